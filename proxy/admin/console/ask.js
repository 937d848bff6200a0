// The dialog, and the line that shows outcomes.
import { button, h, show } from "./dom.js";
import { t } from "./language.js";
import { named } from "./operator.js";

const dialog = document.getElementById("dialog");
const outcome = document.getElementById("outcome");
let fading, opened = 0;
addEventListener("hashchange", () => dialog.close()); // it is about the tab that is left

// notify shows an outcome, also to screen readers.
export function notify(text, bad = false) {
  clearTimeout(fading);
  show(outcome, h("div", { class: bad ? "bad" : "good" }, h("span", null, h("span", { "aria-hidden": "true" }, bad ? "✕ " : "✓ "), text),
    button(t("Dismiss"), t("Hide this message"), () => {
      show(outcome);
      document.getElementById("panel").focus({ preventScroll: true });
    })));
  if (!bad) fading = setTimeout(() => show(outcome), 12_000);
}

// openDialog opens the dialog. With go it is a form: an error that go throws is
// shown in it; else the text that go returns is shown as the outcome, and done is
// called; one that stays shows its outcome itself, and changes nothing: the others ask for the name that the audit log needs,
// if it is not known. The open() that it returns tells whether this dialog is still open;
// wrong(error) shows an error without a submission, and right() takes it away.
export function openDialog({ title, body, action, danger, go, done, wide, stays }) {
  const mine = ++opened;
  const error = h("p", { class: "error", role: "alert" });
  const submit = action && h("button", { type: "submit", class: danger ? "danger" : "main" }, action);
  const form = h("form", {
    novalidate: true,
    onchange: ({ target }) => mark(form, error, target),
    onsubmit: async (event) => {
      event.preventDefault();
      if (submit?.disabled || !go) return;
      submit.disabled = true;
      clear(form, error);
      try {
        const text = await go();
        if (stays) return;
        if (mine === opened) dialog.close();
        notify(text);
        done?.();
      } catch (e) {
        point(form, error, e);
      } finally {
        submit.disabled = false;
      }
    },
  }, h("h2", { id: "dialog-title" }, title), body, go && !stays && !named() && nameField(), error,
  h("div", { class: "actions" }, button(action ? t("Cancel") : t("Close"), t("Close without a change (Esc)"), () => dialog.close()), submit));
  dialog.replaceChildren(form);
  dialog.className = wide ? "wide" : "";
  if (!dialog.open) dialog.showModal();
  else dialog.querySelector("input, select, button")?.focus();
  return { open: () => dialog.open && mine === opened, submit, wrong: (e) => point(form, error, e), right: () => clear(form, error) };
}

const beside = (field) => field.closest(".setting, fieldset") ?? field.closest("label") ?? field;

// mark shows beside a field that was left that its duration is wrong, or no longer that it was.
function mark(form, error, { dataset, value }) {
  if (!dataset.duration) return;
  clear(form, error);
  try {
    checked(dataset.duration, value.trim());
  } catch (e) {
    point(form, error, e, false);
  }
}

// point shows an error beside the field that it is about, which gets the focus, else at the end of the form.
function point(form, error, e, focus = true) {
  clear(form, error);
  const field = e.field && form.querySelector(`[name="${CSS.escape(e.field)}"]`);
  const text = h("span", null, e.message.split("\n").map((line) => h("span", { class: "line" }, line)));
  if (!field) return show(error, "✕ ", text);
  const said = h("p", { class: "error beside", id: "field-error", role: "alert" }, "✕ ", text);
  beside(field).after(said);
  const input = field.parentElement.querySelector("input:not([hidden])") ?? field;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", `${input.getAttribute("aria-describedby") ?? ""} field-error`.trim());
  input.closest("details")?.setAttribute("open", "");
  if (focus) input.focus();
}

function clear(form, error) {
  show(error);
  for (const said of form.querySelectorAll(".beside")) said.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    const others = field.getAttribute("aria-describedby").replace(/ ?field-error$/, "");
    if (others) field.setAttribute("aria-describedby", others);
    else field.removeAttribute("aria-describedby");
  }
}

// Wrong is a mistake in one field, found before the server is asked.
export class Wrong extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

// checked is a duration as the API takes it, or "".
export function checked(field, text) {
  if (text !== "" && !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) throw new Wrong(field, t("Expected a number with a unit, such as 90s, 6h or 30d."));
  return text;
}

// durationField asks how long a change lasts; value() is what the API takes.
export function durationField(what) {
  const other = h("input", { type: "text", "aria-label": t("Other duration"), placeholder: t("such as 45m or 12h"), hidden: true, "data-duration": "for", autocomplete: "off" });
  const choice = h("select", {
    name: "for",
    onchange: () => {
      other.hidden = choice.value !== "other";
      if (!other.hidden) other.focus();
    },
  }, [["", t("until changed")], ["10m", t("for 10 minutes")], ["1h", t("for 1 hour")], ["1d", t("for 1 day")], ["other", t("other duration…")]].map(([value, text]) => h("option", { value }, text)));
  return {
    field: h("label", { class: "field" }, h("span", null, what), h("span", { class: "row" }, choice, other)),
    value() {
      if (choice.value === "other" && other.value.trim() === "") throw new Wrong("for", t("Enter a duration such as 45m or 12h."));
      return checked("for", choice.value === "other" ? other.value.trim() : choice.value);
    },
  };
}

// nameField asks who it is; identified reads it.
const nameField = () => h("label", { class: "field" }, h("span", null, t("Your name")), h("input", { type: "text", name: "operator", maxlength: 40, placeholder: t("for the audit log"), autocomplete: "username" }));

// reasonField asks why, for the audit log.
export function reasonField() {
  const input = h("input", { type: "text", name: "note", maxlength: 200, placeholder: t("for the audit log"), autocomplete: "off" });
  return { field: h("label", { class: "field" }, h("span", null, t("Reason")), input), value: () => input.value.trim() };
}
