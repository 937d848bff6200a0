// Hosts with their breakers, and sources with their recent attempts.
import { change, part, read } from "./api.js";
import { durationField, notify, openDialog, Wrong } from "./ask.js";
import { badge, button, h, svg } from "./dom.js";
import { t } from "./language.js";
import { dashboards, grafana } from "./links.js";
import { find as filtered, list } from "./list.js";
import { breakers } from "./overview.js";
import { cause, result } from "./results.js";
import { ago, pendingNote, plural, time } from "./text.js";
import { held, low, said } from "./trouble.js";

export function find(text) {
  filtered("hosts", text);
  filtered("sources", text);
}

export const load = () => read("upstreams");

export function view({ hosts, sources }, { overview, refresh }) {
  const state = Object.fromEntries(hosts.map((host) => [host.name, host.state]));
  const using = (host) => sources.filter((s) => s.hosts.includes(host.name)).map((s) => `${s.endpoint}/${s.source}`).join(" ");
  const rows = sources.map((s) => sourceRow(s, state, overview.grafana));
  return [
    h("section", { key: "hosts" }, h("h2", null, t("Hosts")), h("p", { class: "soft" }, headline(hosts.length, overview)),
      list("hosts", t("Hosts"), [t("Host"), t("Breaker"), t("Held"), t("Change")], hosts.map((host) => ({ key: host.name, class: { open: "trouble", "half-open": "caution" }[host.state], cells: hostCells(host, refresh), words: `${host.name} ${host.state} ${using(host)}`, sort: [host.name, host.state, host.force], trouble: { open: 2, "half-open": 1 }[host.state] ?? 0, quiet: host.state === "closed" && host.force === "auto" })), refresh, t("No host matches."), t("No breaker is open or held."))),
    h("section", { key: "sources" }, h("h2", null, t("Sources")), troubled(rows),
      h("p", { class: "soft legend" }, t("Latest attempts, oldest first, {n} at most; each is a call of the source, for a request or a refresh.", { n: slots }), " ", example("bar", t("answered")), example("bar none", t("negative")), example("cross", t("failed"))),
      list("sources", t("Sources"), [t("Source"), t("Host"), t("Latest attempts"), t("Last result"), t("Last error")], rows, refresh, t("No source matches."))),
  ];
}

function headline(hosts, overview) {
  const open = breakers(overview).map(([text, names]) => `${text}${t(": ")}${names.join(t(", "))}`);
  return [plural(hosts, "host"), ...(open.length > 0 ? open : [t("all breakers closed")])].join(t("; ")) + t(".");
}

// troubled counts the sources that the list below it shows as in trouble.
function troubled(rows) {
  const bad = rows.filter((row) => !row.quiet).length;
  return bad > 0 && h("p", { class: "soft" }, t("{n} source in trouble|{n} sources in trouble", { n: bad }), t("."));
}

const breakerWords = { closed: t("closed"), open: t("open"), "half-open": t("half-open") };
const breakerBadge = (state) => badge(...({ closed: ["good", "●"], open: ["bad", "▲"] }[state] ?? ["warn", "◐"]), breakerWords[state] ?? state, { closed: t("Calls are made"), open: t("No calls are made") }[state] ?? t("A few trial calls are made"));

function hostCells(host, refresh) {
  const act = async (body, said) => {
    const record = await change("POST", `upstreams/${part(host.name)}`, body);
    return `${host.name}: ${said}${pendingNote(record)}`;
  };
  const release = async () => {
    try {
      notify(await act({ do: "auto" }, t("the breaker is automatic again")));
    } catch (e) {
      notify(e.message, true);
    }
    refresh();
  };
  return [
    h("span", { class: "mono" }, host.name),
    breakerBadge(host.state),
    held(host) && badge("live", "◆", held(host)),
    h("span", { class: "row" },
      button(t("Change…"), t("Hold, release or reset the breaker"), () => hold(host, act, refresh), { key: "hold", about: host.name }),
      held(host) && button(t("Release"), t("Let the breaker open and close automatically"), release, { key: "go", about: host.name })),
  ];
}

const choices = [
  ["open", t("Hold open"), t("no calls are made"), t("the breaker is held open")],
  ["closed", t("Hold closed"), t("calls are made even if they fail"), t("the breaker is held closed")],
  ["auto", t("Release"), t("the breaker opens and closes automatically"), t("the breaker is automatic again")],
  ["reset", t("Reset"), t("the failure history is cleared and the breaker closes"), t("the breaker was reset")],
];

function hold(host, act, refresh) {
  const time = durationField(t("Duration"));
  const radios = choices.map(([value, label, what], i) => {
    const input = h("input", { type: "radio", name: "do", value, onchange: () => (time.field.hidden = i > 1) });
    return [input, h("label", { class: "choice" }, input, h("span", null, h("strong", null, label), h("span", { class: "soft" }, ` – ${what}`)))];
  });
  openDialog({
    title: t("Breaker of {name}", { name: host.name }),
    action: t("Apply"),
    body: [h("p", null, t("Current state:"), " ", breakerBadge(host.state)), h("fieldset", null, h("legend", null, t("Action")), radios.map(([, label]) => label)), time.field],
    done: refresh,
    go: () => {
      const i = radios.findIndex(([input]) => input.checked);
      if (i < 0) throw new Wrong("do", t("Choose one."));
      const [value, , , said] = choices[i];
      return act(i > 1 ? { do: value } : { do: value, for: time.value() }, said);
    },
  });
}

// invalid, forbidden: the caller's mistake; throttled: not called, because its rate is used up
const fine = ["success", "invalid", "forbidden", "negative", "throttled"];
const failed = (attempt) => !fine.includes(attempt.result);
const resultBadge = (name) => badge(...(name === "success" ? ["good", "●"] : fine.includes(name) ? ["plain", "○"] : ["bad", "✕"]), result(name));

// worst is how much is wrong with a source: most where its breaker is open, then where its latest
// attempt failed, or its quota is nearly used up, then by failed attempts.
const worst = (s, breaker, bad) => ({ open: 2000, "half-open": 1500 }[breaker] ?? 0) + (s.recent.length > 0 && failed(s.recent.at(-1)) ? 1000 : 0) + (s.quota_left < low ? 500 : 0) + bad;

function sourceRow(s, states, address) {
  const breaker = ["open", "half-open"].find((state) => s.hosts.some((name) => states[name] === state));
  const recent = s.recent.slice(-slots), latest = recent.at(-1), bad = recent.filter(failed).length;
  return {
    key: `${s.endpoint}/${s.chain}/${s.source}`, class: s.missing ? "out" : { open: "trouble", "half-open": "caution" }[breaker], cells: sourceCells(s, states, address),
    words: `${s.endpoint}/${s.source} ${s.chain} ${s.hosts.join(" ")} ${latest ? `${latest.result} ${result(latest.result)}` : ""} ${s.last_error ?? ""}`,
    sort: [`${s.endpoint}/${s.source}`, s.hosts.join(" "), bad, latest ? result(latest.result) : "", s.last_error_at ? new Date(s.last_error_at).getTime() : 0],
    trouble: worst(s, breaker, bad), quiet: worst(s, breaker, bad) < 500 && bad * 5 < Math.max(1, recent.length),
  };
}

function sourceCells(s, states, address) {
  const latest = s.recent.at(-1);
  return [
    [h("strong", { class: "mono" }, s.endpoint), " ", grafana(address, dashboards.upstreams, s.endpoint, `${s.endpoint}/${s.source}`), h("div", { class: "mono" }, s.source), s.chain !== "main" && s.chain !== "" && h("span", { class: "soft" }, ` ${s.chain}`),
      s.missing && h("div", null, badge("warn", "⚿", t("not in use: {key} is not set", { key: s.missing }), t("Set {key} to use this source", { key: s.missing })))],
    s.hosts.length > 0 ? [s.hosts.map((name) => h("div", { key: name }, h("span", { class: "mono soft words" }, name), states[name] !== "closed" && h("div", null, breakerBadge(states[name])))), s.quota_left !== undefined && h("div", { class: "soft number" }, t("{n} % of its quota is left", { n: Math.round(100 * s.quota_left) }))] : h("span", { class: "soft" }, "–"),
    latest ? spark(s.recent) : h("span", { class: "soft" }, t("no calls yet")),
    latest ? [resultBadge(latest.result), h("div", { class: "soft number" }, `${latest.ms} ms · ${ago(latest.at)}`)] : h("span", { class: "soft" }, "–"),
    s.last_error ? [h("div", { class: "words", title: s.last_error }, s.last_error_result === latest.result ? cause(s.last_error) : said(s.last_error_result, s.last_error)), h("div", { class: "soft" }, time(s.last_error_at, ago(s.last_error_at)))] : h("span", { class: "soft" }, "–"),
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
  const middle = sorted.length ? t(", median {ms} ms", { ms: sorted[sorted.length >> 1] }) : "";
  const label = t("{attempts}, {bad} failed{middle}, slowest {ms} ms", { attempts: plural(recent.length, "attempt"), bad, middle, ms: Math.max(...recent.map((a) => a.ms)) });
  const from = slots - recent.length;
  return [svg("svg", { class: "spark", viewBox: `0 0 ${slots * step} ${height}`, role: "img", "aria-label": label },
    svg("title", null, label), svg("path", { class: "base", d: `M0 ${height - 0.5}H${slots * step}` }),
    recent.map((a, i) => mark(a, (from + i) * step, Math.max(2, (a.ms / most) * (height - 2))))),
  h("div", { class: "soft" }, `${recent.length} · `, h("span", { class: bad > 0 && "bad" }, t("{bad} failed", { bad })), middle.replace(/^[,，] ?/, " · "))];
}

function mark(a, x, high) {
  if (failed(a)) return cross(x + 2, height / 2);
  return svg("rect", { class: a.result === "negative" || a.result === "throttled" ? "none" : "", x: x + 0.6, y: height - 1 - high, width: 3, height: high });
}

const cross = (x, y) => svg("path", { class: "cross", d: `M${x - 1.6} ${y - 3}l3.2 6m0-6l-3.2 6` });

const example = (kind, word) => h("span", { class: "example" }, svg("svg", { class: "spark", viewBox: "0 0 8 16", "aria-hidden": "true" },
  kind === "cross" ? cross(4, 9) : svg("rect", { class: kind.slice(4), x: 2, y: 4, width: 3, height: 11 })), word);
