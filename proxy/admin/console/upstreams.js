// Hosts with their breakers, and sources with their recent attempts.
import { change, part, read } from "./api.js";
import { durationField, notify, openDialog } from "./ask.js";
import { badge, button, h, svg, table } from "./dom.js";
import { ago, moment, pendingNote, plural } from "./text.js";

export const load = () => read("upstreams");

export function view({ hosts, sources }, { refresh }) {
  const open = hosts.filter((host) => host.state !== "closed").map((host) => host.name);
  const state = Object.fromEntries(hosts.map((host) => [host.name, host.state]));
  const endpoints = [...new Set(sources.map((s) => s.endpoint))];
  return [
    h("section", { key: "hosts" }, h("h2", null, "Hosts"),
      h("p", { class: "soft" }, `${plural(hosts.length, "host")}, ${open.length === 0 ? "all breakers closed." : `${plural(open.length, "breaker")} not closed: ${open.join(", ")}.`}`),
      table("Hosts", ["Host", "Breaker", "Held", "Change"], hosts.map((host) => ({ key: host.name, class: host.state !== "closed" && "trouble", cells: hostCells(host, refresh) })), "No upstream hosts.")),
    h("section", { key: "sources" }, h("h2", null, "Sources"),
      h("p", { class: "soft legend" }, "Latest attempts, oldest first. ", example("bar", "answered"), example("bar none", "negative"), example("cross", "failed")),
      endpoints.map((endpoint) => h("div", { key: endpoint }, h("h3", { class: "mono" }, endpoint),
        table(`Sources of ${endpoint}`, ["Source", "Host", "Latest attempts", "Last result", "Last error"],
          sources.filter((s) => s.endpoint === endpoint).map((s) => ({ key: `${s.chain}/${s.source}`, class: !!s.missing && "out", cells: sourceCells(s, state) })))))),
  ];
}

export const breaker = (state) => badge(...({ closed: ["good", "●"], open: ["bad", "▲"] }[state] ?? ["warn", "◐"]), state, { closed: "Calls are made", open: "No calls are made" }[state] ?? "A few trial calls are made");

function hostCells(host, refresh) {
  const held = host.force !== "auto";
  const act = async (body, said) => {
    const record = await change("POST", `upstreams/${part(host.name)}`, body);
    return `${host.name}: ${said}${pendingNote(record)}`;
  };
  const release = async () => {
    try {
      notify(await act({ do: "auto" }, "the breaker is automatic again"));
    } catch (e) {
      notify(e.message, true);
    }
    refresh();
  };
  return [
    h("span", { class: "mono" }, host.name),
    breaker(host.state),
    held ? badge("live", "◆", `held ${host.force}${host.until ? ` until ${moment(host.until)}` : ""}`) : "",
    h("span", { class: "row" },
      button("Change…", `Hold, release or reset the breaker of ${host.name}`, () => hold(host, act, refresh), { key: "hold", "aria-label": `Breaker of ${host.name}…` }),
      held && button("Release", `Let the breaker of ${host.name} open and close automatically`, release, { key: "go", "aria-label": `Release the breaker of ${host.name}` })),
  ];
}

const choices = [
  ["open", "Hold open", "no calls are made", "the breaker is held open"],
  ["closed", "Hold closed", "calls are made even if they fail", "the breaker is held closed"],
  ["auto", "Release", "the breaker opens and closes automatically", "the breaker is automatic again"],
  ["reset", "Reset", "the failure history is cleared and the breaker closes", "the breaker was reset"],
];

function hold(host, act, refresh) {
  const time = durationField("Duration");
  const radios = choices.map(([value, label, what], i) => {
    const input = h("input", { type: "radio", name: "do", value, onchange: () => (time.field.hidden = i > 1) });
    input.checked = i === 0;
    return [input, h("label", { class: "choice" }, input, h("span", null, h("strong", null, label), h("span", { class: "soft" }, ` – ${what}`)))];
  });
  openDialog({
    title: `Breaker of ${host.name}`,
    action: "Apply",
    body: [h("p", null, "Current state: ", breaker(host.state)), h("fieldset", null, h("legend", null, "Action"), radios.map(([, label]) => label)), time.field],
    done: refresh,
    go: () => {
      const i = radios.findIndex(([input]) => input.checked);
      const [value, , , said] = choices[i];
      return act(i > 1 ? { do: value } : { do: value, for: time.value() }, said);
    },
  });
}

const fine = ["success", "negative", "throttled"]; // throttled: not called, because its rate is used up
const failed = (attempt) => !fine.includes(attempt.result);
const resultBadge = (result) => badge(...(result === "success" ? ["good", "●"] : fine.includes(result) ? ["plain", "○"] : ["bad", "✕"]), result);

function sourceCells(s, state) {
  const latest = s.recent.at(-1);
  return [
    [h("span", { class: "mono" }, s.source), s.chain !== "main" && s.chain !== "" && h("span", { class: "soft" }, ` ${s.chain}`),
      s.missing && h("div", null, badge("warn", "⚿", `not in use: ${s.missing} is not set`, `Set ${s.missing} to use this source`)),
      (s.drift ?? []).map((d) => h("div", null, badge("warn", "≠", `${d.field || "reply"} is ${d.change}`, "Its latest replies differ from the recorded ones in a field that the mapping reads")))],
    s.host ? [h("span", { class: "mono soft words" }, s.host), state[s.host] !== "closed" && h("div", null, breaker(state[s.host]))] : h("span", { class: "soft" }, "–"),
    latest ? spark(s.recent) : h("span", { class: "soft" }, "no calls yet"),
    latest ? [resultBadge(latest.result), h("div", { class: "soft number" }, `${latest.ms} ms, ${ago(latest.at)}`)] : h("span", { class: "soft" }, "–"),
    s.last_error ? [h("div", { class: "words" }, s.last_error), h("time", { class: "soft", datetime: s.last_error_at, title: s.last_error_at }, ago(s.last_error_at))] : h("span", { class: "soft" }, "–"),
  ];
}

const slots = 40, step = 4.5, height = 24;

// spark draws a bar for each attempt, as high as it took long, and a cross for a
// failed one.
function spark(all) {
  const recent = all.slice(-slots);
  const most = Math.max(50, ...recent.map((a) => a.ms));
  const sorted = recent.filter((a) => !failed(a)).map((a) => a.ms).sort((a, b) => a - b);
  const bad = recent.filter(failed).length;
  const middle = sorted.length ? `, median ${sorted[sorted.length >> 1]} ms` : "";
  const label = `${plural(recent.length, "attempt")}, ${bad} failed${middle}, slowest ${Math.max(...recent.map((a) => a.ms))} ms`;
  const from = slots - recent.length;
  return [svg("svg", { class: "spark", viewBox: `0 0 ${slots * step} ${height}`, role: "img", "aria-label": label },
    svg("title", null, label), svg("path", { class: "base", d: `M0 ${height - 0.5}H${slots * step}` }),
    recent.map((a, i) => mark(a, (from + i) * step, Math.max(2, (a.ms / most) * (height - 2))))),
  h("div", { class: "soft" }, `${recent.length} · `, h("span", { class: bad > 0 && "bad" }, `${bad} failed`), middle.replace(",", " ·"))];
}

function mark(a, x, high) {
  if (failed(a)) return cross(x + 2, height / 2);
  return svg("rect", { class: a.result === "negative" || a.result === "throttled" ? "none" : "", x: x + 0.6, y: height - 1 - high, width: 3, height: high });
}

const cross = (x, y) => svg("path", { class: "cross", d: `M${x - 1.6} ${y - 3}l3.2 6m0-6l-3.2 6` });

const example = (kind, word) => h("span", { class: "example" }, svg("svg", { class: "spark", viewBox: "0 0 8 16", "aria-hidden": "true" },
  kind === "cross" ? cross(4, 9) : svg("rect", { class: kind.slice(4), x: 2, y: 4, width: 3, height: 11 })), word);
