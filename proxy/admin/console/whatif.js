// What other rules would have done, simulated with requests such as those that were seen.
import { part, read } from "./api.js";
import { badge, button, h, show } from "./dom.js";
import { t } from "./language.js";
import { approximate, count, percent, perHour, plural, short } from "./text.js";

// simulation is a button and, once it was pressed, a table of the rule that is chosen, some TTLs
// around it, the present and the recommended one.
export function simulation(name, rule) {
  const result = h("div", { class: "result", role: "status" });
  const run = async () => {
    result.tabIndex = 0; // it is wider than narrow screens
    show(result, h("p", { class: "soft" }, t("Simulating…")));
    try {
      const query = [...rule.around().map((s) => `ttl=${part(short(s))}`), `grace=${part(short(rule.grace()))}`].join("&");
      show(result, outcomes(await read(`endpoints/${part(name)}/whatif?${query}`), rule));
    } catch (e) {
      show(result, h("p", { class: "error" }, `✕ ${e.message}`));
    }
  };
  return h("section", { class: "whatif" }, h("div", { class: "row" }, button(t("Simulate"), t("Simulate the chosen rule and others, by the code that decides freshness"), run),
    h("span", { class: "soft" }, t("what this rule and others around it would do, request by request"))), result);
}

const columns = [
  [t("Upstream calls"), (o) => perHour(o.calls_per_hour)], [t("Hit ratio"), (o) => percent(o.hit_ratio)], [t("Old answers"), (o) => (o.old_share === undefined ? t("not known") : percent(o.old_share))],
  [t("Mean age"), (o) => approximate(o.mean_age_s)], [t("99 % are younger than"), (o) => approximate(o.p99_age_s)],
];

const marks = (o, rule) => [o.present && [" ", badge("plain", "●", t("now"))], o.recommended && [" ", badge("tip", "✦", t("recommended"))], rule.is(o) && !o.present && [" ", badge("live", "○", t("then"))]];

const outcomes = (w, rule) => [
  h("table", { class: "figures", "aria-label": t("Simulated rules") },
    h("thead", null, h("tr", null, [t("TTL"), t("Grace"), ...columns.map(([name]) => name)].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", null, w.rules.map((o) => h("tr", null, h("th", { scope: "row" }, short(o.ttl_s), marks(o, rule)), h("td", { class: "number" }, short(o.grace_s)),
      columns.map(([, text]) => h("td", { class: "number" }, text(o))))))),
  h("p", { class: "soft" }, t("{requests} for {keys}, as if in {time}; fills take {ms} ms; content changes: {changes}.", { requests: plural(w.requests, "request"), keys: plural(w.keys, "key"), time: approximate(w.simulated_s), ms: count(w.fill_s * 1000), changes: w.changes.replace(/(\d+)\.\d+s/, "$1s") || t("not known") }))];
