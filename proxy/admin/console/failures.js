// Attempts that failed, by source and cause, and retrying them.
import { ask, part, read } from "./api.js";
import { openDialog } from "./ask.js";
import { badge, button, h, show } from "./dom.js";
import { t } from "./language.js";
import { find as filtered, list } from "./list.js";
import { result } from "./results.js";
import { ago, count, time } from "./text.js";
import { said } from "./trouble.js";

export const find = (text) => filtered("failures", text);

export const load = async () => (await read("failures")).failures;

const opened = new Set(); // groups whose attempts are shown

// grouped are failures of the same source for the same cause: numbers in it may differ.
function grouped(failures) {
  const groups = new Map();
  for (const f of failures) {
    const key = [f.endpoint, f.source, f.result, f.error.replace(/\d+/g, "#")].join("\n");
    if (!groups.has(key)) groups.set(key, { key, first: f, all: [] });
    groups.get(key).all.push(f);
  }
  return [...groups.values()];
}

export function view(failures, { refresh }) {
  const heads = [t("Source"), t("Count"), t("Latest"), t("Cause"), t("Attempts")];
  return h("section", null,
    h("p", { class: "soft" }, t("The latest attempts that failed on this instance. Callers may not have noticed: another source or a stale answer may have been served instead.")),
    list("failures", t("Failures"), heads, grouped(failures).map((g) => row(g, refresh)), refresh, t("No recent failures.")));
}

function row({ key, first: f, all }, refresh) {
  const toggle = () => {
    if (!opened.delete(key)) opened.add(key);
    refresh();
  };
  const open = opened.has(key);
  return {
    key, words: `${f.endpoint}/${f.source} ${f.result} ${result(f.result)} ${f.error}`, sort: [`${f.endpoint}/${f.source}`, all.length, new Date(f.at).getTime(), f.error], trouble: all.length,
    cells: [
      [h("strong", { class: "mono" }, f.endpoint), h("div", { class: "mono soft" }, f.source)],
      h("span", { class: "number" }, count(all.length)),
      time(f.at, ago(f.at)),
      [badge("bad", "✕", result(f.result)), f.error !== f.result && h("div", { class: "words", lang: "en" }, f.error), open && single(all, refresh)],
      button(open ? t("Hide") : t("Show {n}", { n: all.length }), t("The single attempts"), toggle, { "aria-expanded": String(open), about: `${f.endpoint}/${f.source}` }),
    ],
  };
}

const single = (all, refresh) => h("ul", { class: "single", tabindex: 0, "aria-label": t("The single attempts") }, all.map((f) => h("li", { key: f.id },
  time(f.at), h("span", { class: "number soft" }, ` ${f.ms} ms`), h("div", null, f.params ? h("span", { class: "mono words" }, paramText(f.params)) : f.personal && badge("plain", "◇", t("personal"), t("The parameters are personal and were not recorded"))),
  f.can_retry && button(t("Retry"), t("Call this source again and show each stage"), () => retry(f, refresh), { about: `${f.endpoint}/${f.source}` }))));

const paramText = (params) => Object.entries(params ?? {}).filter(([, v]) => v !== null && v !== "").map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`).join(" ") || t("no parameters");

async function retry(f, refresh) {
  const box = h("div", { class: "stages", role: "status" }, h("p", { class: "soft" }, t("Calling…")));
  const dialog = openDialog({ title: t("Retry: {source}", { source: `${f.endpoint}/${f.source}` }), body: [h("p", { class: "mono words" }, paramText(f.params)), box], wide: true });
  try {
    const answer = await ask(`failures/${part(f.id)}/retry`);
    if (!dialog.open()) return;
    show(box,
      h("p", null, answer.worked ? badge("good", "✓", t("It works now")) : badge("bad", "✕", t("It still fails")), answer.error && h("span", { class: "words", lang: "en" }, ` ${said(answer.result, answer.error)}`)),
      /breaker/.test(answer.error) && h("p", { class: "soft" }, t("The host's breaker is open. To call it anyway, reset the breaker or hold it closed under Upstreams.")),
      h("ol", null, answer.stages.map((stage) => h("li", null, h("h3", { lang: "en" }, stage.name), h("pre", { tabindex: 0, role: "group", "aria-label": stage.name }, stage.detail)))));
  } catch (e) {
    show(box, h("p", { class: "error" }, `✕ ${e.message}`));
  }
  refresh();
}
