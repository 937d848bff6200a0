// What would become of a request, in the words of the server.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

let url = "", field = "";

// find explains a URL or path, as a link to it does.
export const find = (text) => ([url, field] = [text, ""]);

export const load = async () => url && ask("explain", { url, fields: field ? [field] : [] }).catch((e) => ({ parts: [], wrong: e.message }));

export function view(answer, { refresh }) {
  return h("section", { id: "explain" },
    h("p", { class: "soft" }, t("What would become of a request, without making it. No upstream is called.")),
    h("form", { class: "bar-row", onsubmit: (event) => {
      event.preventDefault();
      [url, field] = ["url", "field"].map((name) => document.getElementById(`explain-${name}`).value.trim());
      refresh();
    } },
    input("url", t("URL or path"), "/api/ip?ip=8.8.8.8", url), input("field", t("Request field"), "Accept-Language: de", field), h("button", { type: "submit", class: "main" }, t("Explain"))),
    h("div", { role: "status", class: "stages" }, answer.wrong && h("p", { class: "error" }, `✕ ${answer.wrong}`),
      answer.parts?.map((p) => h("div", { key: p.part }, h("h2", null, p.title), h("dl", { class: "explained" }, p.facts.map((f, i) => [h("dt", { key: `t${i}`, class: "words" }, f.label), h("dd", { key: `d${i}`, class: "words" }, f.says)]))))));
}

const input = (name, label, example, value) => h("label", { class: "row" }, label, h("input", { class: "long", id: `explain-${name}`, type: "text", value, placeholder: t("such as {path}", { path: example }), autocomplete: "off", spellcheck: "false" }));
