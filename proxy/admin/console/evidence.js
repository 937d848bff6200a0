// What an advice says: its rules, why, and what it rests on.
import { language, t } from "./language.js";
import { plural, sentence } from "./text.js";

export const present = ({ rules }) => rules.find((r) => r.present);
export const advised = ({ rules, advised_ttl_seconds: ttl }) => rules.find((r) => r.ttl_seconds === ttl);

// why is a sentence.
export const why = ({ reason, reason_zh: zh }) => sentence({ en: reason, zh }[language]);

export function evidence({ refreshes, changes, days }) {
  if (refreshes === 0) return t("no refreshes yet");
  return t("{refreshes}, {changes}, {days}", { refreshes: plural(refreshes, "refresh", "refreshes"), changes: plural(changes, "change"), days: days < 1 ? t("less than a day") : plural(Math.round(days), "day") });
}
