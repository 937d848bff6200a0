// Who answered: of each endpoint, the shares of its sources, and of what failed, in what was asked of sources in the last hour.
import { h, svg } from "./dom.js";
import { t } from "./language.js";
import { address } from "./links.js";
import { count, plural, share } from "./text.js";

// cached is the share of the cache in the requests that it answered, that were fetched, or that failed; null: there were none.
export const cached = ({ cached: hits, fetched, errors }) => (hits + fetched + errors > 0 ? hits / (hits + fetched + errors) : null);

// failed is the share of the requests that failed, with their number.
export const failed = ({ requests, errors }) => [share(requests > 0 ? errors / requests : null), errors > 0 && h("span", { class: "soft" }, ` (${count(errors)})`)];

// wholes says what the shares of requests are shares of, the same on all tabs, behind another sentence.
export const wholes = t(" ") + t("“From cache” is the share of the requests that were looked up in the cache, failed ones included; “Errors” that of all requests.");

// shares shows the endpoints that somebody asked for, those first where it was not the first source that answered. What was
// fetched without a request, as at a start, says nothing of what callers got.
export function shares(sources, endpoints, titles) {
  const all = Object.entries(endpoints).map(([name, { total }]) => lineOf(name, total, sources.filter((s) => s.endpoint === name && !s.missing)));
  const asked = all.filter((line) => line.whole > 0 && line.total.requests > 0).sort((a, b) => b.later - a.later || b.whole - a.whole);
  const named = (which) => all.filter(which).map((line) => line.name).sort().join(t(", "));
  const ahead = named((line) => line.whole > 0 && line.total.requests === 0), rest = named((line) => line.whole === 0);
  return [
    h("p", { class: "soft" }, t("Shares of what the sources answered, refreshes in the background included, and of the requests that failed.")),
    h("p", { class: "soft legend" }, ["first", "later", "none"].map((kind) => h("span", { class: "example" }, swatch(kind), kinds[kind]))),
    asked.length > 0 && h("ul", { class: "shares" }, asked.map((line) => drawn(line, titles[line.name]))),
    ahead && h("p", { class: "soft" }, t("Fetched ahead, without a request: {names}.", { names: ahead })),
    rest && h("p", { class: "soft" }, t("No source was asked for {names}.", { names: rest })),
  ];
}

const kinds = { first: t("the first source"), later: t("a later source"), none: t("nobody: the request failed") };

// Which source of a chain is the first is judged by those that were asked at all: some serve only what others do not, as does
// what is computed here before any host is asked.
// lineOf is {name, total, parts, whole, later}: parts are [kind, source, answers], later the share that was not of a first source.
function lineOf(name, total, sources) {
  const tried = sources.filter((s) => s.recent.length > 0);
  const first = new Set(tried.filter((s, i) => s.api || !tried.slice(0, i).some((before) => before.chain === s.chain && before.hosts.length > 0)).map((s) => s.source));
  const parts = [...new Map(sources.map((s) => [s.source, [first.has(s.source) ? "first" : "later", s.source, s.answers]])).values()].filter(([, , n]) => n > 0);
  if (total.errors > 0) parts.push(["none", t("failed"), total.errors]);
  const whole = parts.reduce((sum, [, , n]) => sum + n, 0);
  return { name, total, parts, whole, later: parts.reduce((sum, [kind, , n]) => sum + (kind === "first" ? 0 : n / whole), 0) };
}

function drawn({ name, total, parts, whole }, title) {
  let x = 0;
  return h("li", { key: name },
    h("span", null, h("a", { class: "mono", href: address("upstreams", `${name}/`) }, name), " ", h("span", { class: "soft" }, title)),
    svg("svg", { class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, parts.map(([kind, , n]) => {
      const width = (100 * n) / whole;
      x += width;
      return svg("rect", { class: kind, x: x - width, width: Math.max(0.6, width - 0.6), height: 8 });
    })),
    h("span", { class: "row" }, parts.map(([kind, source, n]) => h("span", { class: "example", key: kind + source }, swatch(kind), h("span", { class: kind === "none" ? "" : "mono" }, source), h("span", { class: "number" }, share(n / whole))))),
    h("span", { class: "soft number" }, plural(total.requests, "request"), cached(total) !== null && t(", {share} from cache", { share: share(cached(total)) })));
}

const swatch = (kind) => svg("svg", { class: "share swatch", viewBox: "0 0 8 8", "aria-hidden": "true" }, svg("rect", { class: kind, width: 8, height: 8, rx: 2 }));
