// The line of a value over the last hour.
import { h, svg } from "./dom.js";
import { t } from "./language.js";

const width = 240, height = 48;

// tile shows a value in words and its line. Minutes of which nothing is known are gaps.
export function tile(name, now, values, text, kind) {
  const known = values.filter((v) => v !== null && v !== undefined);
  const most = Math.max(...known, 1e-9);
  const label = known.length === 0 ? t("{name}: nothing is known of the last hour", { name }) : t("{name} by the minute: from {least} to {most}", { name, least: text(Math.min(...known)), most: text(Math.max(...known)) });
  return h("div", { class: `tile ${kind ?? ""}`, key: name }, h("h3", null, name), h("p", { class: "number" }, now),
    svg("svg", { class: "line-chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      svg("path", { class: "base", d: `M0 ${height - 1}H${width}` }), svg("path", { class: "value", d: path(values, most) })));
}

function path(values, most) {
  let d = "", gap = true;
  values.forEach((v, i) => {
    if (v === null || v === undefined) return (gap = true);
    const x = ((i + 0.5) * width) / values.length, y = height - 3 - (v / most) * (height - 8);
    d += `${gap ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${gap ? "h1" : ""}`;
    gap = false;
  });
  return d;
}
