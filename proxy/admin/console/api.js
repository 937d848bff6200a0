// Calls of the admin API. One that is refused throws the server's message.

export class Lost extends Error {}

async function call(method, path, body, ms) {
  const init = { method, signal: AbortSignal.timeout(ms), headers: {} };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(`api/${path}`, init);
    text = await response.text();
  } catch (error) {
    throw new Lost(error.name === "TimeoutError" ? `no answer within ${ms / 1000} s` : "no connection");
  }
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Lost(`status ${response.status}: ${text.slice(0, 200).trim()}`);
  }
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

export const read = (path) => call("GET", path, undefined, 10_000);
export const change = (method, path, body) => call(method, path, body, 45_000);
export const part = encodeURIComponent;
