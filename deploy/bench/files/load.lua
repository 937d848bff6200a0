-- Tells what came of a load. With PATHS in the environment it asks for the paths in that file, over and over; without,
-- there is no function request, and wrk repeats one request by itself. With DELAY each connection waits for as many ms
-- before a request, on average.
if os.getenv("PATHS") then
  local requests, n = {}, 0
  function init()
    for path in io.lines(os.getenv("PATHS")) do requests[#requests + 1] = wrk.format(nil, path) end
  end
  function request()
    n = n % #requests + 1
    return requests[n]
  end
end

if os.getenv("DELAY") then
  function delay() return math.random(0, 2 * os.getenv("DELAY")) end
end

function done(summary)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.timeout + e.status
  io.write(string.format("\nDONE %d %d %d\n", summary.requests, summary.bytes, failed))
end
