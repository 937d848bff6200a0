// Exchanges that failed, and trying one again.
import { change, part, read } from "./api.js";
import { ask } from "./ask.js";
import { badge, button, h, show, table } from "./dom.js";
import { ago, moment } from "./text.js";

export const load = async () => (await read("failures")).failures;

export function view(failures, { refresh }) {
  return h("section", null,
    h("p", { class: "soft" }, "The latest attempts that failed on this instance, newest first. A caller may not have noticed: another source or a stale answer stood in."),
    table("Failures", ["When", "Source", "Result", "Error", "Asked with", "Again"], failures.map((f) => ({ key: f.id, cells: cells(f, refresh) })), "Nothing failed lately."));
}

function cells(f, refresh) {
  return [
    h("time", { datetime: f.at, title: f.at }, ago(f.at), h("div", { class: "soft" }, moment(f.at))),
    [h("strong", { class: "mono" }, f.endpoint), h("div", { class: "mono soft" }, f.source)],
    [badge("bad", "✕", f.result), h("div", { class: "soft number" }, `${f.ms} ms`)],
    h("span", { class: "words" }, f.error),
    f.params ? h("span", { class: "mono words" }, given(f.params)) : badge("plain", "◇", "personal", "What was asked is personal and was not kept"),
    f.can_retry ? button("Try again", "Ask this source once more and show each stage", () => again(f, refresh), { "aria-label": `Try ${f.endpoint}/${f.source} again` }) : h("span", { class: "soft" }, "–"),
  ];
}

const given = (params) => Object.entries(params ?? {}).filter(([, v]) => v !== null && v !== "").map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`).join(" ") || "nothing";

async function again(f, refresh) {
  const box = h("div", { class: "stages", role: "status" }, h("p", { class: "soft" }, "Asking…"));
  const dialog = ask({ title: `Try again: ${f.endpoint}/${f.source}`, body: [h("p", { class: "mono words" }, given(f.params)), box], wide: true });
  try {
    const answer = await change("POST", `failures/${part(f.id)}/retry`);
    if (!dialog.open()) return;
    show(box,
      h("p", null, answer.worked ? badge("good", "✓", "It works now") : badge("bad", "✕", "It still fails"), answer.error && h("span", { class: "words" }, ` ${answer.error}`)),
      /breaker/.test(answer.error) && h("p", { class: "soft" }, "The host's breaker is open. To ask all the same, reset it or hold it closed, under Upstreams."),
      h("ol", null, answer.stages.map((stage) => h("li", null, h("h3", null, stage.name), h("pre", { tabindex: 0, "aria-label": stage.name }, stage.detail)))));
  } catch (e) {
    show(box, h("p", { class: "error" }, `✕ ${e.message}`));
  }
  refresh();
}
