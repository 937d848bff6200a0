// Links to what is told elsewhere: on another tab, in the runbook, and on the dashboards in Grafana. The latter two open
// beside the console, which goes on showing what is in trouble.
import { h } from "./dom.js";
import { language, t } from "./language.js";

// about is whose link it is, for screen readers.
const outside = (href, label, about, title) => h("a", { href, target: "_blank", rel: "noopener noreferrer", title, "aria-label": `${label}${t(": ")}${about}` }, label, h("span", { "aria-hidden": "true" }, " ↗"));

export const runbook = (section, about) => outside(`${{ en: "runbook.html", zh: "runbook.zh.html" }[language]}#${section}`, t("Runbook"), about, t("What it means, where to look, and what to do"));

// address is that of a tab, filtered by a text.
export const address = (tab, text) => (text ? `#${tab}=${encodeURIComponent(text)}` : `#${tab}`);

// show leads to what is told on another tab about something.
export const show = ([tab, text], about) => {
  const label = t("Show {what}", { what: { failures: t("failures"), upstreams: t("upstreams"), audit: t("audit") }[tab] });
  return h("a", { href: address(tab, text), "aria-label": `${label}${t(": ")}${about}` }, label);
};

export const dashboards = { service: "sundry-service", upstreams: "sundry-upstreams" }; // by the uid that deploy/grafana gives them

// grafana leads to a dashboard, for one endpoint or, with "", for all; false where the settings name no Grafana.
export function grafana(address, dashboard, endpoint, about = endpoint) {
  if (!address) return false;
  const query = endpoint ? `?var-endpoint=${encodeURIComponent(endpoint)}` : "";
  return outside(`${address}/d/${dashboard}${query}`, t("Grafana"), about, t("Its dashboard"));
}
