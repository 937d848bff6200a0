// Trying an endpoint, as a caller would, and reading its declaration.
import { ask, part, read, text } from "./api.js";
import { openDialog, Wrong } from "./ask.js";
import { body } from "./body.js";
import { badge, h, show } from "./dom.js";
import { language, t } from "./language.js";
import { bytes, count } from "./text.js";

export async function tryOut(name) {
  const { params } = await read(`endpoints/${part(name)}/form`);
  const result = h("div", { class: "stages", role: "status" }), fields = params.map(field);
  const dialog = openDialog({
    title: t("Try {name}", { name }), wide: true, action: t("Send"), stays: true,
    body: [h("p", { class: "soft" }, t("A request as callers of the public listener make them. It counts as one, and an upstream may be called.")), fields.map(([, row]) => row), result],
    async go() {
      const asked = {};
      for (const [p, , input] of fields) {
        if (p.required && input.value === "") throw new Wrong(p.name, t("This parameter is required."));
        if (input.value !== "") asked[p.name] = input.value;
      }
      show(result, h("p", { class: "soft" }, t("Calling…")));
      const answer = await ask(`endpoints/${part(name)}/try`, { params: asked });
      if (dialog.open()) show(result, answered(answer));
    },
  });
}

function field(p) {
  const id = `about-${p.name}`;
  const input = p.choices?.length > 0
    ? h("select", { name: p.name, "aria-describedby": id }, !p.required && h("option", { value: "" }, p.default ? t("default: {value}", { value: p.default }) : t("not given")),
      p.choices.map((c) => h("option", { value: c.value }, c[language] && c[language] !== c.value ? `${c.value} – ${c[language]}` : c.value)))
    : h("input", { type: "text", name: p.name, value: p.required ? p.example : "", placeholder: p.default || p.example, autocomplete: "off", spellcheck: "false", "aria-describedby": id });
  const row = h("div", { class: "setting" }, h("label", null, h("span", { class: "mono" }, p.name), input), h("p", { id, class: "soft" }, p[language], p.required && ` ${t("Required.")}`));
  return [p, row, input];
}

const first = (answer, name) => answer.headers[name]?.[0];

function answered(answer) {
  const good = answer.status < 400;
  return [
    h("p", { class: "row" }, badge(good ? "good" : "bad", good ? "✓" : "✕", t("Status {status}", { status: answer.status })), h("span", { class: "number" }, `${count(answer.ms)} ms`), h("span", { class: "number" }, bytes(answer.bytes))),
    h("p", { class: "mono words" }, answer.url),
    h("dl", null, ["Content-Type", "Cache-Status", "Cache-Control", "Age", "Location"].filter((name) => first(answer, name)).map((name) => [h("dt", null, name), h("dd", { class: "mono" }, first(answer, name))])),
    body(answer, first(answer, "Content-Type"), t("Answer")),
  ];
}

// declaration shows the YAML of an endpoint.
export async function declaration(name) {
  const box = h("pre", { class: "tall", tabindex: 0, role: "group", "aria-label": t("Declaration of {name}", { name }) }, t("Loading…"));
  openDialog({ title: t("Declaration of {name}", { name }), wide: true, body: box });
  try {
    box.textContent = await text(`endpoints/${part(name)}/declaration`);
  } catch (e) {
    box.textContent = `✕ ${e.message}`;
  }
}
