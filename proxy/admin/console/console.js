// The page: header and tabs, and refreshing them.
import { change, Lost, read } from "./api.js";
import { openDialog } from "./ask.js";
import * as audit from "./audit.js";
import * as cache from "./cache.js";
import { badge, h, show } from "./dom.js";
import * as endpoints from "./endpoints.js";
import * as failures from "./failures.js";
import { approximate, moment, plural, share } from "./text.js";
import * as upstreams from "./upstreams.js";

const tabs = [["endpoints", "Endpoints", endpoints], ["upstreams", "Upstreams", upstreams], ["cache", "Cache", cache], ["failures", "Failures", failures], ["audit", "Audit", audit]];
const every = 4000;
const place = (id) => document.getElementById(id);
const panel = place("panel"), lost = place("lost");

let current = tabs[0], round = 0, timer, answered = Date.now();

// refresh loads the current tab. Of several that are running the last one counts.
async function refresh() {
  clearTimeout(timer);
  const mine = ++round, [name, , tab] = current;
  try {
    const [overview, data] = await Promise.all([read("overview"), tab.load()]);
    if (mine !== round) return;
    answered = Date.now();
    lost.hidden = true;
    header(overview);
    if (panel.dataset.tab !== name) {
      panel.replaceChildren();
      panel.dataset.tab = name;
    }
    const inside = panel.contains(document.activeElement);
    show(panel, tab.view(data, { refresh }));
    if (inside && !panel.contains(document.activeElement)) panel.focus({ preventScroll: true });
    panel.removeAttribute("aria-busy");
  } catch (e) {
    if (mine !== round) return;
    report(e);
  }
  if (!document.hidden) timer = setTimeout(refresh, every);
}

function report(e) {
  const text = e instanceof Lost ? `Sundry does not answer (${e.message}). The data shown is from ${moment(answered)}.` : `Cannot show this tab: ${e.message}`;
  if (!lost.hidden && lost.textContent.endsWith(text)) return;
  lost.replaceChildren(h("span", { "aria-hidden": "true" }, "▲ "), text);
  lost.hidden = false;
  document.title = "▲ No answer – Sundry";
}

function header(o) {
  const open = o.breakers_open ?? [];
  document.title = open.length > 0 ? `▲ ${plural(open.length, "breaker")} open – Sundry` : "Sundry console";
  show(place("facts"),
    h("span", { class: "mono" }, o.version), h("span", null, `up ${approximate(o.uptime_s)}`),
    h("span", null, `${plural(o.requests.requests, "request")}, ${share(o.requests.hit_ratio)} from cache`),
    o.replay && badge("warn", "▷", "replay", "Upstream calls are answered from recorded exchanges"),
    o.redis ? badge("good", "●", "Redis", "Redis is the second cache tier, and settings are shared") : badge("plain", "○", "memory only", "Redis is not configured"),
    o.lasting ? badge("good", "●", "settings persistent", "Changes made here survive a restart") : badge("warn", "◌", "settings not persistent"),
    open.length > 0 && badge("bad", "▲", `${plural(open.length, "breaker")} open`, open.join(", ")));
  const pending = o.pending > 0 && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), `${plural(o.pending, "change")} pending: in force on this instance only, and stored for the others once Redis is back. A restart before then loses them.`);
  show(place("notices"), pending, !o.lasting && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), "Changes made here are lost at a restart. To keep them, start with ", h("code", null, "--state FILE"), " or with Redis."));
}

place("reload").onclick = () => openDialog({
  title: "Reload?",
  action: "Reload",
  body: h("p", null, "Reads configuration and catalog again. If they contain a mistake, nothing changes and the mistake is shown here."),
  done: refresh,
  async go() {
    await change("POST", "reload");
    return "Configuration and catalog were reloaded";
  },
});

// Tabs: arrow keys move among them, and the one with the focus is shown.
const labels = tabs.map((tab, i) => h("button", {
  type: "button", role: "tab", id: `tab-${tab[0]}`, "aria-controls": "panel", title: `Show ${tab[1].toLowerCase()}`,
  onclick: () => open(i),
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

function open(i) {
  const changed = current !== tabs[i];
  current = tabs[i];
  labels.forEach((label, at) => {
    label.setAttribute("aria-selected", at === i);
    label.tabIndex = at === i ? 0 : -1;
  });
  panel.setAttribute("aria-labelledby", labels[i].id);
  if (location.hash !== `#${current[0]}`) history.replaceState(null, "", `#${current[0]}`);
  if (changed) {
    panel.setAttribute("aria-busy", "true");
    scrollTo(0, 0);
  }
  refresh();
}

const named = () => Math.max(0, tabs.findIndex(([name]) => `#${name}` === location.hash));
addEventListener("hashchange", () => open(named()));
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
document.querySelector(".skip").onclick = (event) => {
  event.preventDefault();
  panel.focus();
};
open(named());
