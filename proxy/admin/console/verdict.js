// The advisor's verdict, in one word.
import { badge } from "./dom.js";
import { t } from "./language.js";
import { short } from "./text.js";

export const word = (a) => ({ set: t("ttl {ttl}", { ttl: short(a.recommended.ttl_s) }), schedule: t("timetable {until}", { until: a.until }), keep: t("nothing to gain") }[a.verdict] ?? t("too little known"));

// verdict is in color only where there is something to gain.
export const verdict = (a) => badge(...({ set: ["tip", "✦"], schedule: ["tip", "◷"], keep: ["plain", "✓"] }[a.verdict] ?? ["plain", "…"]), word(a));
