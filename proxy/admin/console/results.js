// How attempts end, in words.
import { t } from "./language.js";

const words = {
  success: t("success"), negative: t("negative"), throttled: t("throttled"), outrun: t("outrun"), internal: t("internal"), invalid: t("invalid"), forbidden: t("forbidden"),
  unavailable: t("unavailable"), timeout: t("timeout"), limited: t("limited"), rejected: t("rejected"), busy: t("busy"), malformed: t("malformed"), skipped: t("skipped"),
};

export const result = (name) => words[name] ?? name;
