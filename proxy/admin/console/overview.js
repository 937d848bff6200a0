// The first view: what is in trouble, the last hour, and who answered.
import { read } from "./api.js";
import { badge, h } from "./dom.js";
import { own, t } from "./language.js";
import { dashboards, grafana, runbook, show } from "./links.js";
import { cached, failed, shares, wholes } from "./shares.js";
import { tile } from "./sparkline.js";
import { count, milliseconds, share, zone } from "./text.js";
import { troubles } from "./trouble.js";

export async function load() {
  const [upstreams, history, { endpoints }] = await Promise.all([read("upstreams"), read("history"), read("endpoints")]);
  return { upstreams, history, titles: Object.fromEntries(endpoints.map((e) => [e.name, own(e.title)])) };
}

export function view({ upstreams, history, titles }, { overview }) {
  const { hour: { requests, errors, hit_ratio: ratio, p95_ms: p95 }, total } = history.service;
  return [
    h("section", { key: "trouble" }, h("h2", null, t("In trouble")), listed(troubles(overview, upstreams, history), overview.grafana)),
    h("section", { key: "hour" }, h("h2", null, t("The last hour")),
      h("div", { class: "tiles" },
        tile(t("Requests"), count(total.requests), requests, count),
        tile(t("From cache"), share(cached(total)), ratio, share),
        tile(t("95th percentile, latest minute"), milliseconds(p95), p95, (v) => milliseconds([v])),
        tile(t("Errors"), failed(total), errors, count, total.errors > 0 ? "bad" : "")),
      h("p", { class: "soft" }, t("By the minute, on this instance since its start. Times are those of {zone}.", { zone }), wholes)),
    h("section", { key: "answers" }, h("h2", null, t("Who answered what was not in the cache, in the last hour")), shares(upstreams.sources, history.endpoints, titles)),
  ];
}

function listed(found, address) {
  if (found.length === 0) return h("p", { class: "empty" }, t("Nothing is in trouble."));
  return [h("p", { class: "soft" }, t("{n} thing, the worst first|{n} things, the worst first", { n: found.length })), h("ul", { class: "troubles" }, found.map((f) => h("li", { key: f.what + f.why, class: f.kind },
    badge(f.kind, f.sign, f.what), h("span", { class: "why" }, f.why, f.cause && h("span", { class: "soft words", title: f.cause[1] }, f.cause[0])),
    h("span", { class: "row" }, f.to[0] && show(f.to, f.what), runbook(f.section, f.what), f.to[0] && f.to[0] !== "audit" && grafana(address, f.to[0] === "failures" ? dashboards.service : dashboards.upstreams, f.endpoint, f.what)))))];
}

// breakers that are not closed, as [text, names, kind, sign]: those that are open before those that are half-open.
export const breakers = (o) => [[o.breakers_open ?? [], "{n} breaker open|{n} breakers open", "bad", "▲"], [o.breakers_half_open ?? [], "{n} breaker half-open|{n} breakers half-open", "warn", "◐"]]
  .filter(([names]) => names.length > 0).map(([names, text, kind, sign]) => [t(text, { n: names.length }), names, kind, sign]);
