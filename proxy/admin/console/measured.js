// What really came of the rule in force, beside what was predicted.
import { h } from "./dom.js";
import { figures } from "./figures.js";
import { t } from "./language.js";
import { moment, plural } from "./text.js";

const hours = (m, until) => (new Date(until) - new Date(m.since)) / 3600e3;

// calls to the upstream so far, of which it takes some dozens until chance no longer decides.
const calls = (m) => Math.round(m.calls_per_hour * hours(m, Date.now()));
const enough = (m) => m.requests >= 100 && calls(m) >= 24;

// rated has no calls an hour where they would be those of some minutes.
const rated = (m, until) => m && (hours(m, until) < 1 / 6 ? { ...m, calls_per_hour: null } : m);

// plotted is what was measured if it says enough to be on the curve, or else null.
export const plotted = (m) => (m && m.old_share !== undefined && enough(m) && hours(m, Date.now()) >= 1 / 6 ? m : null);

export function came({ measured, predicted, before }) {
  if (!measured || measured.requests === 0) return null;
  const columns = [[t("Before"), rated(before, measured.since)], [t("Predicted"), predicted], [t("Measured"), rated(measured, Date.now())]].filter(([, o]) => o);
  return h("section", null, h("h3", null, t("What came of the present rule")), figures(t("What came of the present rule"), columns, enough(measured) && (predicted ? t("Off by") : t("Change"))),
    h("p", { class: "soft" }, t("In force since {at}: {requests} and {calls}.", { at: moment(measured.since), requests: plural(Math.round(measured.requests), "request"), calls: plural(calls(measured), "upstream call") }), !enough(measured) && t(" That is too little to judge by.")));
}
