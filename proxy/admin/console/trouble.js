// What is in trouble, the worst first.
import { t } from "./language.js";

export const low = 0.1; // the share of a quota below which it is told

// troubles are {weight, tab, kind, sign, what, why, section, endpoint}, from what the API says of the
// instance, of its hosts and sources, and of the last hour. The section is one of the runbook; the endpoint is "" where it concerns more than one.
export function troubles(overview, { sources }, history) {
  const found = [];
  const add = (weight, tab, kind, sign, what, why, section, endpoint = "") => found.push({ weight, tab, kind, sign, what, why, section, endpoint });
  if (!overview.in_sync) add(9, "audit", "bad", "▲", t("Redis"), t("This instance is cut off from the settings in Redis"), "sundrysettingsunread");
  for (const name of overview.breakers_open ?? []) add(7, "upstreams", "bad", "▲", name, t("The breaker is open: no calls are made"), "sundrybreakeropen");
  for (const [name, line] of Object.entries(history.endpoints)) {
    const state = lately(line);
    if (state === "failing") add(8, "endpoints", "bad", "✕", name, t("Requests fail"), "sundryendpointwithoutsource", name);
    if (state === "stale") add(4, "endpoints", "warn", "◐", name, t("Answers are old, because refreshes fail"), "sundrystaleforlong", name);
  }
  for (const name of overview.breakers_half_open ?? []) add(5, "upstreams", "warn", "◐", name, t("The breaker is half-open: a few trial calls are made"), "sundrybreakeropen");
  for (const s of sources) {
    if (s.quota_left !== undefined && s.quota_left < low) add(6, "upstreams", "warn", "◔", `${s.endpoint}/${s.source}`, t("{n} % of its quota is left", { n: Math.round(100 * s.quota_left) }), "quotas", s.endpoint);
    for (const d of s.drift ?? []) add(3, "upstreams", "warn", "≠", `${s.endpoint}/${s.source}`, t("{field} of its replies is {change}", { field: d.field || t("the reply"), change: changed(d.change) }), "sundryreplydrift", s.endpoint);
  }
  return found.sort((a, b) => b.weight - a.weight || a.what.localeCompare(b.what));
}

export const changed = (change) => ({ missing: t("missing"), retyped: t("of another type"), emptied: t("an empty list"), new: t("new") }[change] ?? change);

// lately is what most requests of an endpoint came to in the last minutes that had any.
export function lately({ hour, day }) {
  const sum = (list, from) => list.slice(from).reduce((all, n) => all + (n ?? 0), 0);
  const requests = sum(hour.requests, -15), errors = sum(hour.errors, -15);
  if (errors > 0 && errors * 10 >= requests) return "failing";
  const stale = sum(day.stale, -1), works = sum(day.works, -1);
  return stale > 0 && stale >= works ? "stale" : "works";
}
