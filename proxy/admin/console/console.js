// The page: header, tabs, and bringing them up to date.
import { change, Lost, read } from "./api.js";
import { ask } from "./ask.js";
import * as audit from "./audit.js";
import * as cache from "./cache.js";
import { badge, h, show } from "./dom.js";
import * as endpoints from "./endpoints.js";
import * as failures from "./failures.js";
import { moment, plural, roughly, share } from "./text.js";
import * as upstreams from "./upstreams.js";

const tabs = [["endpoints", "Endpoints", endpoints], ["upstreams", "Upstreams", upstreams], ["cache", "Cache", cache], ["failures", "Failures", failures], ["audit", "Audit", audit]];
const every = 4000;
const place = (id) => document.getElementById(id);
const panel = place("panel"), lost = place("lost");

let current = tabs[0], round = 0, timer, answered = Date.now();

// refresh loads what is looked at. Of several under way the last one counts.
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
  const text = e instanceof Lost ? `Sundry does not answer (${e.message}). What is shown is of ${moment(answered)}.` : `This cannot be shown: ${e.message}`;
  if (!lost.hidden && lost.textContent.endsWith(text)) return;
  lost.replaceChildren(h("span", { "aria-hidden": "true" }, "▲ "), text);
  lost.hidden = false;
  document.title = "▲ No answer – Sundry";
}

function header(o) {
  const open = o.breakers_open ?? [];
  document.title = open.length > 0 ? `▲ ${plural(open.length, "breaker")} open – Sundry` : "Sundry console";
  show(place("facts"),
    h("span", { class: "mono" }, o.version), h("span", null, `up ${roughly(o.uptime_s)}`),
    h("span", null, `${plural(o.requests.requests, "request")}, ${share(o.requests.hit_ratio)} from cache`),
    o.replay && badge("warn", "▷", "replay", "Upstream calls are answered from recorded exchanges"),
    o.redis ? badge("good", "●", "Redis", "The far tier is on, and settings are shared") : badge("plain", "○", "memory only", "There is no far tier"),
    o.lasting ? badge("good", "●", "settings last", "What is changed here survives a restart") : badge("warn", "◌", "settings do not last"),
    open.length > 0 && badge("bad", "▲", `${plural(open.length, "breaker")} open`, open.join(", ")));
  const pending = o.pending > 0 && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), `${plural(o.pending, "change")} pending: in force on this instance alone, and shared with the others once Redis is back. A restart before that forgets them.`);
  show(place("notices"), pending, !o.lasting && h("p", { class: "notice" }, h("span", { "aria-hidden": "true" }, "◌ "), "What is changed here is forgotten at a restart. To keep it, start with ", h("code", null, "--state FILE"), " or with Redis."));
}

place("reload").onclick = () => ask({
  title: "Reload?",
  action: "Reload",
  body: h("p", null, "Configuration and catalog are read anew. With a mistake in them, everything stays as it is and the mistake is shown here."),
  done: refresh,
  async go() {
    await change("POST", "reload");
    return "Configuration and catalog are loaded anew";
  },
});

// Tabs: arrows move among them, and the one that has the focus is shown.
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
