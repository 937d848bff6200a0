// The curves of a TTL: the old share and the upstream calls that it leads to, with their bands. All
// scales are logarithmic.
import { h, svg } from "./dom.js";
import { figure } from "./figures.js";
import { t } from "./language.js";
import { goal, short } from "./text.js";

// marks of the points, which their shapes tell apart.
const shapes = {
  now: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z",
  best: "M0-8L2.2-2.2L8 0L2.2 2.2L0 8L-2.2 2.2L-8 0L-2.2-2.2Z",
  then: "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0Z",
  seen: "M-5-5L5 5M5-5L-5 5",
};
const meanings = { now: t("now"), best: t("advised"), then: t("then"), seen: t("seen") };
export const mark = (kind, x, y) => svg("path", { class: `mark ${kind}`, d: shapes[kind], transform: `translate(${x} ${y})` });

// at is the rule of a TTL, read off the curve between those of its neighbours.
export function at(rules, ttl) {
  const i = rules.findIndex((r) => r.ttl_seconds >= ttl);
  if (i < 0 || rules[i].ttl_seconds === ttl) return rules.at(i);
  if (i === 0) return rules[0];
  const [a, b] = [rules[i - 1], rules[i]], part = Math.log(ttl / a.ttl_seconds) / Math.log(b.ttl_seconds / a.ttl_seconds);
  const between = ([name, from]) => [name, typeof from === "number" && typeof b[name] === "number" ? from + part * (b[name] - from) : from];
  return { ...Object.fromEntries(Object.entries(a).map(between)), ttl_seconds: ttl, present: false };
}

const height = 300, side = { left: 54, right: 14 };

// chart draws both curves for a width in pixels, with points [kind, rule].
export function chart({ rules, target }, points, width) {
  const right = width - side.right, ends = [rules[0].ttl_seconds, rules.at(-1).ttl_seconds];
  const x = (s) => round(side.left + along(s, ends) * (right - side.left));
  const { old, calls } = goal(target);
  return svg("svg", { class: "curve large", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": described(points) },
    plot(figure.old, t("old share"), { rules, points, x, right, top: 22, bottom: 132, target: old, least: 1e-4, most: 1 }),
    plot(figure.calls, t("upstream calls an hour"), { rules, points, x, right, top: 168, bottom: 278, target: calls, least: 1e-3, most: Infinity }),
    svg("g", { class: "axes" }, spread(times.filter((s) => s >= ends[0] && s <= ends[1]), x, 44).map((s) => svg("text", { x: x(s), y: 295, "text-anchor": "middle" }, short(s)))));
}

const along = (v, [from, to]) => (to > from ? Math.log(v / from) / Math.log(to / from) : 0.5);
const round = (v) => Number(v.toFixed(1));
const times = [1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400, 30 * 86400, 90 * 86400, 366 * 86400];

// spread leaves out what would be nearer than so many pixels to the one before it.
function spread(values, place, apart) {
  const kept = [];
  for (const v of values) if (kept.length === 0 || Math.abs(place(v) - place(kept.at(-1))) >= apart) kept.push(v);
  return kept;
}

function plot(f, title, { rules, points, x, right, top, bottom, target, least, most }) {
  const shown = rules.filter((r) => f.value(r) !== null), heading = svg("text", { x: 0, y: top - 9 }, title);
  if (shown.length === 0) return svg("g", { class: "axes" }, heading, svg("text", { x: (side.left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle" }, t("not known")));
  const shares = f === figure.old, ends = decades([...shown.flatMap((r) => [f.low(r), f.value(r), f.high(r)]), target], least, most);
  const y = (v) => round(bottom - Math.min(1, Math.max(0, along(Math.max(v, ends[0]), ends))) * (bottom - top));
  const line = (value, list = shown) => list.map((r) => `${x(r.ttl_seconds)} ${y(value(r))}`).join("L");
  return svg("g", null, axes(ends, y, { right, top, bottom }, shares, shown.some((r) => f.value(r) < ends[0])), svg("g", { class: "axes" }, heading),
    svg("path", { class: "band", d: `M${line(f.low)}L${line(f.high, shown.toReversed())}Z` }), svg("path", { class: "line", d: `M${line(f.value)}` }),
    target > 0 && [svg("path", { class: "target", d: `M${side.left} ${y(target)}H${right}` }), svg("text", { class: "target", x: right, y: top - 9, "text-anchor": "end" }, `┄ ${t("target {target}", { target: shares ? `${Number((target * 100).toPrecision(6))} %` : f.text(target) })}`)],
    guide(points, x, top, bottom), points.filter(([, r]) => f.value(r) !== null).map(([kind, r]) => mark(kind, x(r.ttl_seconds), y(f.value(r)))));
}

// guide leads to the point that is chosen.
const guide = (points, x, top, bottom) => points.filter(([kind]) => kind === "then").map(([, r]) => svg("path", { class: "guide", d: `M${x(r.ttl_seconds)} ${top}V${bottom}` }));

// decades are the powers of ten around the values.
function decades(values, least, most) {
  const positive = values.filter((v) => v >= least);
  if (positive.length === 0) return [least, least * 100];
  const from = 10 ** Math.floor(Math.log10(Math.min(...positive)) + 1e-9), to = 10 ** Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
  return [from, Math.min(most, Math.max(to, from * 10))];
}

function axes(ends, y, { right, top, bottom }, shares, less) {
  const tens = [];
  for (let v = ends[0]; v <= ends[1] * 1.001; v *= 10) tens.push(v);
  const rows = spread(tens.length > 2 ? tens : tens.flatMap((v) => [v, 2 * v, 5 * v]).filter((v) => v <= ends[1] * 1.001), y, 18);
  const text = (v) => (shares ? `${Number((v * 100).toPrecision(1))} %` : String(Number(v.toPrecision(1))));
  return svg("g", { class: "axes" }, svg("path", { class: "grid", d: rows.map((v) => `M${side.left} ${y(v)}H${right}`).join("") }),
    svg("path", { class: "axis", d: `M${side.left} ${top}V${bottom}H${right}` }), rows.map((v) => svg("text", { x: side.left - 7, y: y(v) + 4, "text-anchor": "end" }, (less && v === ends[0] ? "≤" : "") + text(v))));
}

const about = ([kind, r]) => `${meanings[kind]}${t(": ")}${t("TTL {ttl}, {calls}", { ttl: short(r.ttl_seconds), calls: figure.calls.text(r.calls_per_hour) })}${r.older_ratio === null ? "" : t(", {share} old", { share: figure.old.text(r.older_ratio) })}`;
const described = (points) => `${t("Old share and upstream calls over TTL.")} ${points.map(about).join(t("; "))}`;

// legend names the marks.
export const legend = (kinds) => h("figcaption", { class: "soft legend" }, kinds.map((kind) => h("span", { class: "example" },
  svg("svg", { class: "curve key", viewBox: "-9 -9 18 18", "aria-hidden": "true" }, mark(kind, 0, 0)), meanings[kind])));
