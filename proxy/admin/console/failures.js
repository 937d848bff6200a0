// Attempts that failed, by endpoint and cause, and retrying them.
import { ask, part, read } from "./api.js";
import { openDialog } from "./ask.js";
import { badge, button, h, show } from "./dom.js";
import { t } from "./language.js";
import { find as filtered, list } from "./list.js";
import { cause as inWords, result } from "./results.js";
import { ago, count, time } from "./text.js";
import { said } from "./trouble.js";

export const find = (text) => filtered("failures", text);

export async function load() {
  const [{ failures }, { endpoints }] = await Promise.all([read("failures"), read("history")]);
  return { failures, endpoints };
}

const opened = new Set(); // causes whose attempts are shown

// grouped are attempts by what keyOf says of them, in their order.
function grouped(failures, keyOf) {
  const groups = new Map();
  for (const f of failures) {
    const key = keyOf(f);
    if (!groups.has(key)) groups.set(key, { key, first: f, all: [] });
    groups.get(key).all.push(f);
  }
  return [...groups.values()];
}

// causeOf is the same for attempts that failed alike, of whichever source: numbers in it may differ.
const causeOf = (f) => [f.endpoint, f.result, f.error.replace(/\d+/g, "#")].join("\n");

export function view({ failures, endpoints }, { refresh }) {
  const heads = [t("Endpoint"), t("Failed requests"), t("Failed attempts"), t("Latest"), t("Causes")];
  return h("section", null,
    h("p", { class: "soft" }, t("The latest attempts that failed on this instance, those first whose callers got no answer in the last hour. Where no request failed, another source or a stale answer was served instead.")),
    list("failures", t("Failures"), heads, grouped(failures, (f) => f.endpoint).map((g) => row(g, endpoints[g.key]?.total ?? { requests: 0, errors: 0 }, refresh)), refresh, t("No recent failures.")));
}

// row is an endpoint. A source that is paused is hardly called, so that what its callers got tells more than how often it failed.
function row({ key, first: f, all }, total, refresh) {
  return {
    key, class: total.errors > 0 && "trouble", words: all.map((f) => `${f.endpoint}/${f.source} ${f.result} ${result(f.result)} ${f.error}`).join("\n"),
    sort: [key, total.errors, all.length, new Date(f.at).getTime()], trouble: total.errors * 1e6 + all.length,
    cells: [
      h("strong", { class: "mono" }, key),
      total.errors > 0 ? h("span", { class: "number bad" }, h("span", { "aria-hidden": "true" }, "▲ "), t("{n} of {all}", { n: total.errors, all: count(total.requests) })) : h("span", { class: "soft" }, t("none")),
      h("span", { class: "number" }, count(all.length)),
      time(f.at, ago(f.at)),
      h("ul", { class: "causes" }, grouped(all, causeOf).map((g) => cause(g, refresh))),
    ],
  };
}

// cause is what failed alike: how, at which sources, and the single attempts if they are wanted.
function cause({ key, first: f, all }, refresh) {
  const toggle = () => {
    if (!opened.delete(key)) opened.add(key);
    refresh();
  };
  const open = opened.has(key), sources = [...new Set(all.map((f) => f.source))].sort(), words = inWords(f.error);
  return h("li", { key },
    h("div", { class: "row" }, badge("bad", "✕", result(f.result)), h("span", { class: "mono words" }, sources.join(t(", "))),
      button(open ? t("Hide") : t("Show {n}", { n: all.length }), t("The single attempts"), toggle, { "aria-expanded": String(open), about: `${f.endpoint}/${sources.join(t(", "))}` })),
    f.error !== f.result && [h("div", { class: "words", lang: words === f.error && "en" }, words), open && words !== f.error && h("div", { class: "soft words", lang: "en" }, f.error)],
    open && single(all, sources.length > 1, refresh));
}

const single = (all, named, refresh) => h("ul", { class: "single", tabindex: 0, "aria-label": t("The single attempts") }, all.map((f) => h("li", { key: f.id },
  time(f.at), h("span", { class: "number soft" }, ` ${f.ms} ms`), h("div", null, named && h("span", { class: "mono" }, `${f.source} `), f.params ? h("span", { class: "mono words" }, paramText(f.params)) : f.personal && badge("plain", "◇", t("personal"), t("The parameters are personal and were not recorded"))),
  f.can_retry && button(t("Retry"), t("Call this source again and show each stage"), () => retry(f, refresh), { about: `${f.endpoint}/${f.source}` }))));

const paramText = (params) => Object.entries(params ?? {}).filter(([, v]) => v !== null && v !== "").map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`).join(" ") || t("no parameters");

async function retry(f, refresh) {
  const box = h("div", { class: "stages", role: "status" }, h("p", { class: "soft" }, t("Calling…")));
  const dialog = openDialog({ title: t("Retry: {source}", { source: `${f.endpoint}/${f.source}` }), body: [h("p", { class: "mono words" }, paramText(f.params)), box], wide: true });
  try {
    const answer = await ask(`failures/${part(f.id)}/retry`);
    if (!dialog.open()) return;
    show(box,
      h("p", null, answer.worked ? badge("good", "✓", t("It works now")) : badge("bad", "✕", t("It still fails")), answer.error && h("span", { class: "words", title: answer.error }, ` ${said(answer.result, answer.error)}`)),
      /breaker/.test(answer.error) && h("p", { class: "soft" }, t("The host's breaker is open. To call it anyway, reset the breaker or hold it closed under Upstreams.")),
      h("ol", null, answer.stages.map((stage) => h("li", null, h("h3", { lang: "en" }, stage.name), h("pre", { tabindex: 0, role: "group", "aria-label": stage.name }, stage.detail)))));
  } catch (e) {
    show(box, h("p", { class: "error" }, `✕ ${e.message}`));
  }
  refresh();
}
