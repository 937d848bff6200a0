// What the autopilot does about an endpoint's TTL.
import { badge, h } from "./dom.js";
import { own, t } from "./language.js";
import { moment, percent, perHour, short } from "./text.js";

const words = {
  observing: t("observing"), trying: t("a step is on trial"), content: t("content"), doubtful: t("predictions do not hold"), paused: t("paused after a step was reverted"),
  by_hand: t("left to the operator"), stepping: t("about to step"), reverting: t("about to revert"),
};
const signs = { doubtful: ["warn", "▲"], paused: ["warn", "‖"], trying: ["tip", "◌"], stepping: ["tip", "→"], reverting: ["warn", "↶"] };

// mark is for endpoints that the autopilot is on for.
export const mark = (pilot) => pilot?.on && badge("live", "⟳", t("autopilot"), t("The autopilot sets the ttl from {min} to {max}: {state}", { min: short(pilot.min_s), max: short(pilot.max_s), state: words[pilot.state] ?? pilot.state }));

// section is on its state, its reason and its last step; nothing where it is off.
export function section(pilot) {
  if (!pilot?.on) return null;
  const { last } = pilot;
  return h("section", { class: "said" }, h("h3", null, t("Autopilot, from {min} to {max}", { min: short(pilot.min_s), max: short(pilot.max_s) })),
    h("p", null, badge(...(signs[pilot.state] ?? ["plain", "●"]), words[pilot.state] ?? pilot.state), " ", own(pilot.reason)),
    last && h("p", { class: "soft" }, t("Last step, {at}: {from} → {to}; predicted were {calls} upstream calls and {old} old answers", { at: moment(last.at), from: short(last.from_s), to: short(last.to_s), calls: perHour(last.calls_per_hour), old: percent(last.old_share) }),
      last.reverted ? t("; reverted {at}.", { at: moment(last.reverted) }) : t(".")),
    pilot.next && h("p", { class: "soft" }, t("Next step at {at} at the earliest. Whatever is applied here is left alone for a day.", { at: moment(pilot.next) })));
}
