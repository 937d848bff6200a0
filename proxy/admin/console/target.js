// Choosing what an operator wants: at most so many old answers, or at most so many calls.
import { h } from "./dom.js";
import { t } from "./language.js";
import { goal } from "./text.js";

// field asks for a target, beginning with one; value() is what the API takes.
export function field(target, moved) {
  const { old, calls } = goal(target);
  const unit = h("span"), number = h("input", { type: "text", class: "few", inputmode: "decimal", value: String(old ? Number((old * 100).toPrecision(6)) : calls), "aria-label": t("Target"), autocomplete: "off", onchange: moved });
  const kind = h("select", { name: "target", "aria-label": t("What the target bounds"), onchange: () => {
    say();
    number.value = kind.value === "old" ? "2" : "100";
    moved();
  } }, [["old", t("old share")], ["calls", t("upstream calls")]].map(([value, text]) => h("option", { value, selected: value === (old ? "old" : "calls") }, text)));
  const say = () => (unit.textContent = kind.value === "old" ? "%" : t("an hour"));
  say();
  return {
    field: h("fieldset", null, h("legend", null, t("Target")), h("span", { class: "row" }, kind, t("at most"), number, unit)),
    value: () => (kind.value === "old" ? `old=${number.value.trim()}%` : `calls=${number.value.trim()}/h`),
  };
}
