// A slider over durations that people use. Its scale is logarithmic, as that of the curve above it.
import { h } from "./dom.js";
import { short, spoken } from "./text.js";

const minutes = [1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45]; // and seconds
const hours = [1, 1.5, 2, 3, 4, 6, 8, 12, 18], days = [1, 1.5, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 180, 366];
const usual = [[1, minutes], [60, minutes], [3600, hours], [86400, days]].flatMap(([unit, values]) => values.map((n) => n * unit));

const steps = 1000;

// slider stops at the durations, in seconds, and at the usual ones between them. Each move by its
// user is told.
export function slider({ name, label, seconds, at, moved }) {
  const all = [...new Set([...seconds, ...usual.filter((s) => s > seconds[0] && s < seconds.at(-1))])].sort((a, b) => a - b);
  const places = all.map((s) => Math.round((Math.log(s / all[0]) / Math.log(all.at(-1) / all[0])) * steps) || 0);
  const says = h("output", { class: "number" }), input = h("input", { type: "range", name, "aria-label": label, min: 0, max: steps, step: 1 });
  let stop = all.indexOf(at);
  const go = (i) => {
    stop = Math.min(all.length - 1, Math.max(0, i));
    input.value = places[stop];
    says.textContent = short(all[stop]);
    input.setAttribute("aria-valuetext", spoken(all[stop]));
  };
  input.oninput = () => {
    const by = Number(input.value) - places[stop];
    go(Math.abs(by) === 1 ? stop + by : nearest(places, Number(input.value))); // arrow keys move by one
    moved();
  };
  go(stop);
  return { field: h("label", { class: "slider" }, h("span", null, label), says, h("span", { class: "track" }, input)), value: () => all[stop], set: (s) => go(all.indexOf(s)) };
}

const nearest = (places, place) => places.reduce((best, p, i) => (Math.abs(p - place) < Math.abs(places[best] - place) ? i : best), 0);
