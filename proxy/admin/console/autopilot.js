// What the autopilot does about an endpoint's TTL, and switching it.
import { badge, h } from "./dom.js";
import { own, t } from "./language.js";
import { moment, sentence, short, shortDuration } from "./text.js";

// mark is for endpoints that the autopilot is on for.
export const mark = (pilot) => pilot.on && badge("live", "⟳", t("autopilot"), `${short(pilot.min_s)}–${short(pilot.max_s)}`);

// said is its reason, what it would set now, and its last step.
export const said = ({ on, reason, ttl_s: ttl, last }, now) => [
  on && h("p", { class: "soft" }, sentence(own(reason)), ttl !== now && ` ${t("It would set {ttl} now.", { ttl: short(ttl) })}`),
  last && h("p", { class: "soft" }, t("Last step, {at}: {from} → {to}.", { at: moment(last.at), from: shortDuration(last.from), to: shortDuration(last.to) }), ` ${sentence(last.note)}`),
];

// field switches it, within bounds; value() is what the API takes.
export function field(pilot, ttl) {
  const box = h("input", { type: "checkbox", name: "autopilot", onchange: () => (bounds.hidden = !box.checked) });
  const bound = (label, s) => h("input", { type: "text", class: "few", "aria-label": label, value: short(s), autocomplete: "off", spellcheck: "false" });
  const min = bound(t("Shortest TTL"), pilot.min_s ?? ttl / 4), max = bound(t("Longest TTL"), pilot.max_s ?? ttl * 4);
  const bounds = h("span", { class: "row" }, t("from"), min, t("to"), max);
  box.checked = pilot.on;
  bounds.hidden = !pilot.on;
  return {
    field: h("fieldset", null, h("legend", null, t("Autopilot")), h("label", { class: "choice" }, box, h("span", null, t("sets the TTL by itself, step by step"))), bounds),
    value: () => (box.checked ? `${min.value.trim()}..${max.value.trim()}` : "off"),
  };
}
