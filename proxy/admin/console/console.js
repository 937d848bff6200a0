// The page: header and tabs, and refreshing them.
import * as advice from "./advice.js";
import { change, Lost, read } from "./api.js";
import * as apis from "./apis.js";
import { openDialog } from "./ask.js";
import * as audit from "./audit.js";
import * as cache from "./cache.js";
import { badge, h, show } from "./dom.js";
import * as endpoints from "./endpoints.js";
import * as explain from "./explain.js";
import * as failures from "./failures.js";
import { choose, language, locale, t } from "./language.js";
import { login, show as showOperator } from "./operator.js";
import { address } from "./links.js";
import * as overview from "./overview.js";
import { approximate, moment } from "./text.js";
import * as upstreams from "./upstreams.js";

const tabs = [["overview", t("Overview"), overview], ["endpoints", t("Endpoints"), endpoints], ["apis", t("APIs"), apis], ["advice", t("Advice"), advice], ["upstreams", t("Upstreams"), upstreams], ["cache", t("Cache"), cache], ["explain", t("Explain"), explain], ["failures", t("Failures"), failures], ["audit", t("Audit"), audit]];
const every = 4000;
const place = (id) => document.getElementById(id);
const panel = place("panel"), lost = place("lost");

let current = tabs[0], round = 0, timer, answered = Date.now();

// refresh loads the current tab. Of several that are running the last one counts.
async function refresh() {
  clearTimeout(timer);
  const mine = ++round, [name, , tab] = current;
  try {
    const [about, data] = await Promise.all([read("overview"), tab.load()]);
    if (mine !== round) return;
    answered = Date.now();
    lost.hidden = true;
    header(about);
    if (panel.dataset.tab !== name) {
      panel.replaceChildren();
      panel.dataset.tab = name;
    }
    const inside = panel.contains(document.activeElement);
    show(panel, tab.view(data, { overview: about, refresh }));
    if (inside && !panel.contains(document.activeElement)) panel.focus({ preventScroll: true });
    panel.removeAttribute("aria-busy");
  } catch (e) {
    if (mine !== round) return;
    report(e);
  }
  if (!document.hidden) timer = setTimeout(refresh, every);
}

function report(e) {
  const text = e instanceof Lost ? t("Sundry does not answer ({why}). The data shown is from {at}.", { why: e.message, at: moment(answered) }) : t("Cannot show this tab: {why}", { why: e.message });
  if (!lost.hidden && lost.textContent.endsWith(text)) return;
  lost.replaceChildren(h("span", { "aria-hidden": "true" }, "▲ "), text);
  lost.hidden = false;
  document.title = t("▲ No answer – Sundry");
}

function header(o) {
  const breakers = overview.breakers(o);
  document.title = breakers.length > 0 ? `${breakers[0][3]} ${breakers.map(([text]) => text).join(t(", "))} – Sundry` : t("Sundry console");
  show(place("facts"),
    h("span", { class: "mono" }, o.version), h("span", null, t("up {time}", { time: approximate(o.uptime_s) })),
    o.replay && badge("warn", "▷", t("replay"), t("Upstream calls are answered from recorded exchanges")),
    o.redis ? badge("good", "●", t("Redis"), t("Redis is the second cache tier, and settings are shared")) : badge("plain", "○", t("memory only"), t("Redis is not configured")),
    o.lasting && badge("good", "●", t("settings persistent"), t("Changes made here survive a restart")),
    breakers.map(([text, names, kind, sign]) => badge(kind, sign, text, names.join(", "))));
  const pending = o.pending > 0 && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), t("{n} change pending: in force on this instance only, and stored for the others once it can be. Unless data is set, a restart before then loses it.|{n} changes pending: in force on this instance only, and stored for the others once it can be. Unless data is set, a restart before then loses them.", { n: o.pending }));
  show(place("notices"), pending, !o.lasting && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), t("Changes made here are lost at a restart. To keep them, start with {option}, or with a Redis that writes to its disk (appendonly yes).", { option: t("--data DIR") })));
}

place("reload").onclick = () => openDialog({
  title: t("Reload?"),
  action: t("Reload"),
  body: h("p", null, t("Reads configuration and catalog again. If they contain a mistake, nothing changes and the mistake is shown here.")),
  done: refresh,
  async go() {
    await change("POST", "reload");
    return t("Configuration and catalog were reloaded");
  },
});

// Tabs: arrow keys move among them, and the one with the focus is shown.
const labels = tabs.map((tab, i) => h("button", {
  type: "button", role: "tab", id: `tab-${tab[0]}`, "aria-controls": "panel", onclick: () => open(i),
}, tab[1]));
place("tabs").append(...labels);
place("tabs").onkeydown = (event) => {
  const i = tabs.indexOf(current), n = tabs.length;
  const to = { ArrowRight: i + 1, ArrowLeft: i + n - 1, Home: 0, End: n - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  open(to % n);
  labels[to % n].focus();
};

// open shows a tab; with a text that of it which is about the text.
function open(i, text = "") {
  const changed = current !== tabs[i];
  if (text) tabs[i][2].find?.(text);
  current = tabs[i];
  labels.forEach((label, at) => {
    label.setAttribute("aria-selected", at === i);
    label.tabIndex = at === i ? 0 : -1;
  });
  labels[i].scrollIntoView({ block: "nearest", inline: "nearest" }); // where not all fit
  panel.setAttribute("aria-labelledby", labels[i].id);
  if (location.hash !== address(current[0], text)) history.replaceState(null, "", address(current[0], text));
  if (changed) {
    panel.setAttribute("aria-busy", "true");
    scrollTo(0, 0);
  }
  refresh();
}

// follow opens what the address names: a tab, and what it is to be filtered by.
function follow() {
  const [[tab, text] = []] = new URLSearchParams(location.hash.slice(1));
  open(Math.max(0, tabs.findIndex(([name]) => name === tab)), text);
}
addEventListener("hashchange", follow);
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
// What the document says before there is a language.
document.documentElement.lang = locale;
place("skip").textContent = t("Skip to the content");
place("tabs").setAttribute("aria-label", t("Views"));
place("reload").textContent = t("Reload…");
place("reload").title = t("Reload configuration and catalog");
place("language").textContent = { zh: "English", en: "中文" }[language];
place("language").lang = { zh: "en", en: "zh-CN" }[language];
place("language").onclick = () => choose({ zh: "en", en: "zh" }[language]);
place("operator").onclick = () => login();
showOperator();
panel.replaceChildren(h("p", { class: "empty" }, t("Loading…"))); // until the first data come

document.querySelector(".skip").onclick = (event) => {
  event.preventDefault();
  panel.focus();
};
follow();
