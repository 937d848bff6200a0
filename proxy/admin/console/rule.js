// Choosing a rule by two sliders, for TTL and grace.
import { mark } from "./curve.js";
import { button, h } from "./dom.js";
import { t } from "./language.js";
import { between, slider } from "./stops.js";
import { short } from "./text.js";

// chooser begins at the present rule of the advice, and calls moved with each move.
export function chooser({ curve, present, recommended, verdict }, moved) {
  const now = mark("now", 0, 0), best = verdict === "set" ? [[mark("best", 0, 0), recommended.ttl_s]] : [];
  const around = () => between(present.ttl_s / 50, Math.max(1, present.ttl_s) * 50);
  const ttl = slider({ name: "ttl", label: t("TTL"), seconds: curve.length > 1 ? curve.map((o) => o.ttl_s) : around(), at: present.ttl_s, marks: [...best, [now, present.ttl_s]], moved });
  const grace = slider({ name: "grace", label: t("Grace"), seconds: [0, ...between(5, 30 * 86400)], at: present.grace_s, marks: [[now.cloneNode(), present.grace_s]], moved });
  const go = (to, graceTo) => {
    ttl.set(to);
    grace.set(graceTo);
    moved();
  };
  const to = (label, title, o) => button(label, title, () => go(o.ttl_s, o.grace_s));
  return {
    field: h("div", { class: "sliders" }, ttl.field, grace.field, h("div", { class: "row" },
      verdict === "set" && to(t("Recommended: {ttl}", { ttl: short(recommended.ttl_s) }), t("Move the sliders to the recommended rule"), recommended), to(t("As now"), t("Move the sliders to the rule in force"), present))),
    ttl: ttl.value, grace: grace.value, around: ttl.around,
    pick: (to) => go(to, grace.value()), // one of the TTLs of the curve
    is: (o) => o?.ttl_s === ttl.value() && o.grace_s === grace.value(),
    // changed are the settings that differ from a rule, as the API takes them.
    changed: (o) => Object.fromEntries([["ttl", ttl.value(), o.ttl_s], ["grace", grace.value(), o.grace_s]].filter(([, s, from]) => s !== from).map(([name, s]) => [name, short(s)])),
  };
}
