// What rules lead to, in numbers side by side.
import { h } from "./dom.js";
import { t } from "./language.js";
import { percent, perHour } from "./text.js";

const metrics = [
  { name: t("Upstream calls"), value: (o) => o.calls_per_hour, text: perHour, difference: times, fewer: true },
  { name: t("Hit ratio"), value: (o) => o.hit_ratio, text: percent, difference: points, fewer: false },
  { name: t("Old answers"), value: (o) => o.old_share, text: percent, difference: points, fewer: true },
  { name: t("Quota used"), value: (o) => o.quota_used, text: percent, difference: points, fewer: true },
];

// figures is a table with a column for each [head, outcome], and, if it has a head, one for how the
// last of them differs from the one before it. An outcome that is asked for is null, and so is a
// value that nobody knows.
export function figures(label, columns, difference) {
  const [from, to] = columns.slice(-2).map(([, outcome]) => outcome);
  const known = metrics.filter((m) => columns.some(([, o]) => o && m.value(o) !== undefined));
  const head = (text) => (text ? h("th", { scope: "col" }, text) : h("td"));
  return h("table", { class: "figures", "aria-label": label },
    h("thead", null, h("tr", null, head(""), columns.map(([name]) => head(name)), difference && head(difference))),
    h("tbody", null, known.map((m) => h("tr", { key: m.name }, h("th", { scope: "row" }, m.name), columns.map(([, o]) => h("td", { class: "number" }, written(m, o))), difference && h("td", null, compared(m, from, to))))));
}

const has = (m, o) => o && m.value(o) !== undefined && m.value(o) !== null;
const written = (m, o) => (!o ? "…" : has(m, o) ? m.text(m.value(o)) : h("span", { class: "soft" }, t("not known")));

function compared(m, from, to) {
  if (!has(m, from) || !has(m, to)) return h("span", { class: "soft" }, "–");
  const text = m.difference(m.value(from), m.value(to));
  if (!text) return h("span", { class: "soft" }, t("same"));
  return h("span", { class: (m.value(to) < m.value(from)) === m.fewer ? "number gain" : "number loss" }, text);
}

// times tells numbers apart by their ratio, and points shares by their difference; "" if they
// are the same.
function times(from, to) {
  if (Math.abs(to - from) <= 0.005 * Math.max(from, to)) return "";
  if (to < from) return `− ${percent(1 - to / from)}`;
  if (to < 2 * from) return `+ ${percent(to / from - 1)}`;
  return from > 0 ? `× ${Number((to / from).toPrecision(2))}` : t("from none");
}

function points(from, to) {
  const n = Math.abs(to - from) * 100;
  return n < 0.05 ? "" : t("{x} points", { x: `${to < from ? "−" : "+"} ${n.toFixed(n < 10 ? 1 : 0)}` });
}
