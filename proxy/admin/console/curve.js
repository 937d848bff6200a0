// The curve of a rule: upstream calls against old answers, from short TTLs to long ones.
import { h, svg } from "./dom.js";
import { t } from "./language.js";
import { percent, perHour, short } from "./text.js";

// marks of the points, which their shapes tell apart.
const shapes = {
  now: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z",
  best: "M0-8L2.2-2.2L8 0L2.2 2.2L0 8L-2.2 2.2L-8 0L-2.2-2.2Z",
  then: "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0Z",
  real: "M-5-5L5 5M5-5L-5 5",
};
const meanings = { now: t("now"), best: t("recommended"), then: t("then"), real: t("measured") };
export const mark = (kind, x, y) => svg("path", { class: `mark ${kind}`, d: shapes[kind], transform: `translate(${x} ${y})` });

// plane maps calls and old answers to places, the roots of both, so that the few of one and
// the many of the other can be seen in one picture. A place is never beyond its edges.
function plane(points, { left, right, top, bottom }) {
  const most = Math.max(1, ...points.map((o) => o.calls_per_hour)), oldest = Math.max(0.1, ...points.map((o) => o.old_share ?? 0));
  const along = (part) => Math.sqrt(Math.min(1, Math.max(0, part)));
  return {
    most, oldest,
    x: (old) => Number((left + along(old / oldest) * (right - left)).toFixed(1)),
    y: (calls) => Number((bottom - along(calls / most) * (bottom - top)).toFixed(1)),
  };
}

const line = (curve, { x, y }) => svg("path", { class: "line", d: curve.map((o, i) => `${i ? "L" : "M"}${x(o.old_share)} ${y(o.calls_per_hour)}`).join("") });

// small draws the curve with the present rule, and the recommended one if there is one.
export function small({ curve, present, recommended, verdict }) {
  const to = plane([...curve, present, recommended], { left: 6, right: 90, top: 6, bottom: 30 });
  const at = (kind, o) => mark(kind, to.x(o.old_share), to.y(o.calls_per_hour));
  return svg("svg", { class: "curve small", viewBox: "0 0 96 36", "aria-hidden": "true" },
    svg("path", { class: "axis", d: "M2 2V34H94" }), line(curve, to), verdict !== "keep" && at("best", recommended), at("now", present));
}

// large draws it with axes, for a width in pixels. real is what was measured, and then what the
// sliders lead to; null for nothing. A TTL of the curve that is clicked is picked.
export function large({ curve, present, recommended, verdict }, real, then, width, pick) {
  const box = { left: 40, right: width - 30, top: 34, bottom: 230 };
  const to = plane([...curve, present, recommended, ...(real ? [real] : [])], box);
  const points = [["now", present], ...(verdict === "keep" ? [] : [["best", recommended]]), ...(real ? [["real", real]] : []), ...(then ? [["then", then]] : [])]
    .map(([kind, o]) => ({ kind, o, x: to.x(o.old_share), y: to.y(o.calls_per_hour) }));
  return svg("svg", { class: "curve large", viewBox: `0 0 ${width} 268`, role: "img", "aria-label": described(points) },
    axes(to, box), line(curve, to), stops(curve, to, points, pick), guides(points.findLast(({ kind }) => kind === "then" || kind === "now"), box),
    points.map(({ kind, x, y }) => mark(kind, x, y)));
}

const about = (o) => t("TTL {ttl}, {calls}, {old} old", { ttl: short(o.ttl_s), calls: perHour(o.calls_per_hour), old: percent(o.old_share) });
const described = (points) => t("Upstream calls against the share of old answers.") + ` ${points.map(({ kind, o }) => `${meanings[kind]}: ${about(o)}`).join("; ")}.`;

// guides lead from a point to its values on the axes.
const guides = ({ x, y }, { left, bottom }) => svg("path", { class: "guide", d: `M${left} ${y}H${x}V${bottom}` });

function axes(to, { left, right, top, bottom }) {
  const rows = ticks(to.most, (v) => bottom - to.y(v), 26), columns = ticks(to.oldest * 100, (v) => to.x(v / 100) - left, 40);
  return svg("g", { class: "axes" },
    svg("path", { class: "grid", d: rows.map((v) => `M${left} ${to.y(v)}H${right}`).join("") }),
    svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    rows.map((v) => svg("text", { x: left - 7, y: to.y(v) + 4, "text-anchor": "end" }, String(v))),
    columns.map((v) => svg("text", { x: to.x(v / 100), y: bottom + 17, "text-anchor": "middle" }, `${v} %`)),
    svg("text", { x: 0, y: 11 }, t("upstream calls an hour")),
    svg("text", { x: right, y: bottom + 35, "text-anchor": "end" }, t("share of old answers")));
}

// ticks are round values up to the largest, apart from each other.
function ticks(largest, place, apart) {
  const out = [0];
  for (let size = 10 ** Math.floor(Math.log10(largest) - 3); size <= largest; size *= 10) {
    for (const n of [1, 2, 5]) {
      const v = Number((n * size).toPrecision(1));
      if (v <= largest && place(v) - place(out.at(-1)) >= apart) out.push(v);
    }
  }
  return out;
}

// stops are the TTLs on the curve, of which those are named that have room.
function stops(curve, to, points, pick) {
  const taken = points.filter(({ kind }) => kind !== "then");
  return curve.map((o) => {
    const x = to.x(o.old_share), y = to.y(o.calls_per_hour);
    const free = taken.every((p) => Math.hypot((p.x - x) / 1.6, p.y - y) > 24);
    if (free) taken.push({ x, y });
    return [svg("circle", { class: "stop", cx: x, cy: y, r: 2, onclick: () => pick(o.ttl_s) }, svg("title", null, about(o))), free && svg("text", { class: "ttl", x: x + 8, y: y - 6 }, short(o.ttl_s))];
  });
}

// legend names the marks.
export const legend = (kinds) => h("figcaption", { class: "soft legend" }, kinds.map((kind) => h("span", { class: "example" },
  svg("svg", { class: "curve key", viewBox: "-9 -9 18 18", "aria-hidden": "true" }, mark(kind, 0, 0)), meanings[kind])));
