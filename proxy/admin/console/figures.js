// What TTLs lead to, in numbers with their bands.
import { h } from "./dom.js";
import { t } from "./language.js";
import { percent, perHour, perHourBetween } from "./text.js";

// A figure of a rule: its value, and the band in which 95 % lie. null: nobody knows, as of calls
// where what was seen is too short for a single one.
export const figure = {
  old: { name: t("Old share"), value: (r) => r.older_ratio, low: (r) => r.older_low, high: (r) => r.older_high, text: percent, band: (low, high) => `${percent(low)} – ${percent(high)}`.replaceAll(" %", "\u00a0%") },
  calls: { name: t("Upstream calls"), value: (r) => (r.calls_high > 0 ? r.calls_per_hour : null), low: (r) => r.calls_low, high: (r) => r.calls_high, text: perHour, band: perHourBetween },
};

const unknown = () => h("span", { class: "soft" }, t("not known"));
const has = (f, r) => r && f.value(r) !== null && f.value(r) !== undefined;

// Where every refresh found a change, the value is no more than the least that is possible.
const value = (f, r) => (f === figure.old && r.older_at_most ? t("up to {share}", { share: f.text(f.high(r)) }) : f.text(f.value(r)));
const band = (f, r) => h("span", { class: "soft number band" }, f.band(f.low(r), f.high(r)));

// changes is a figure now and, if there is one, then.
export function changes(f, now, then) {
  if (!has(f, now)) return unknown();
  const one = (r, arrow) => h("span", { class: "one" }, h("span", { class: "number" }, arrow, value(f, r)), band(f, r));
  return h("span", { class: "changes" }, one(now, ""), has(f, then) && !then.present && one(then, "→ "));
}

// figures is a table with a column for each [head, rule]; a rule that is asked for is null.
export const figures = (label, columns) => h("table", { class: "figures", "aria-label": label },
  h("thead", null, h("tr", null, h("td"), columns.map(([head]) => h("th", { scope: "col" }, head)))),
  h("tbody", null, Object.values(figure).map((f) => h("tr", { key: f.name }, h("th", { scope: "row" }, f.name),
    columns.map(([, r]) => h("td", null, !r ? "…" : has(f, r) ? [h("span", { class: "number" }, value(f, r)), band(f, r)] : unknown()))))));
