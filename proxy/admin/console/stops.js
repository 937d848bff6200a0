// A slider over durations that people use, each about as much longer than the one before: its
// scale is logarithmic.
import { h, svg } from "./dom.js";
import { short, spoken } from "./text.js";

const minutes = [1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45]; // and seconds
const hours = [1, 1.5, 2, 3, 4, 6, 8, 12, 18], days = [1, 1.5, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90];
const usual = [[1, minutes], [60, minutes], [3600, hours], [86400, days]].flatMap(([unit, values]) => values.map((n) => n * unit));

// between are the usual durations from one to another, in seconds.
export const between = (from, to) => usual.filter((s) => s >= from && s <= to);

// slider of durations in seconds, at one of them. Marks are [mark, seconds], to be shown above
// it. Each move by its user is told.
export function slider({ name, label, seconds, at, marks, moved }) {
  const all = [...new Set([...seconds, at, ...marks.map(([, s]) => s)])].sort((a, b) => a - b);
  const says = h("output", { class: "number" }), input = h("input", { type: "range", name, "aria-label": label, min: 0, max: all.length - 1, step: 1 });
  const value = () => all[Number(input.value)];
  const write = () => {
    says.textContent = short(value());
    input.setAttribute("aria-valuetext", spoken(value()));
  };
  input.oninput = () => {
    write();
    moved();
  };
  const set = (s) => {
    input.value = Math.max(0, all.findLastIndex((one) => one <= s));
    write();
  };
  set(at);
  const place = (s) => `${(all.indexOf(s) / Math.max(1, all.length - 1)) * 100}%`;
  return {
    field: h("label", { class: "slider" }, h("span", null, label), says,
      h("span", { class: "track" }, svg("svg", { class: "marks", "aria-hidden": "true" }, marks.map(([mark, s]) => svg("svg", { x: place(s), y: 9, overflow: "visible" }, mark))), input),
      h("span", { class: "soft ends", "aria-hidden": "true" }, h("span", null, short(all[0])), h("span", null, short(all.at(-1))))),
    value, set,
    // around are the value and the durations two and four stops from it.
    around: () => [-4, -2, 0, 2, 4].map((by) => all[Number(input.value) + by]).filter((s) => s > 0),
  };
}
