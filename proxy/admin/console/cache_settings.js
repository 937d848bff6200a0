// The cache settings, each with its name and its meaning, by how the API spells them.
import { t } from "./language.js";

export const cacheSettings = {
  ttl: [t("ttl"), t("how long an answer is fresh")],
  grace: [t("grace"), t("then served stale at once and refreshed in the background")],
  stale_if_error: [t("stale if error"), t("then served only if a refresh fails")],
  negative: [t("negative"), t("how long a negative answer is cached")],
  poll: [t("poll"), t("how often a late edition is checked for")],
  soft_timeout: [t("soft timeout"), t("how long a request waits for a refresh when there is a stale answer")],
  target: [t("target"), t("at most so many old answers, or so many upstream calls")],
  autopilot: [t("autopilot"), t("between which values the TTL is set by itself")],
};

// tuned are those that the advice is about, and no durations.
export const tuned = ["target", "autopilot"];
