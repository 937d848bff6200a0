// The dialog, and the line that shows outcomes.
import { button, h, show } from "./dom.js";

const dialog = document.getElementById("dialog");
const outcome = document.getElementById("outcome");
let fading, opened = 0;

// notify shows an outcome, also to screen readers.
export function notify(text, bad = false) {
  clearTimeout(fading);
  show(outcome, h("div", { class: bad ? "bad" : "good" }, h("span", null, h("span", { "aria-hidden": "true" }, bad ? "✕ " : "✓ "), text),
    button("Dismiss", "Hide this message", () => {
      show(outcome);
      document.getElementById("panel").focus({ preventScroll: true });
    })));
  if (!bad) fading = setTimeout(() => show(outcome), 12_000);
}

// openDialog opens the dialog. With go it is a form: an error that go throws is
// shown in it; else the text that go returns is shown as the outcome, and done is
// called. The open() that it returns tells whether this dialog is still open.
export function openDialog({ title, body, action, danger, go, done, wide }) {
  const mine = ++opened;
  const error = h("p", { class: "error", role: "alert" });
  const submit = action && h("button", { type: "submit", class: danger ? "danger" : "main" }, action);
  const form = h("form", {
    novalidate: true,
    onsubmit: async (event) => {
      event.preventDefault();
      if (submit?.disabled || !go) return;
      submit.disabled = true;
      show(error);
      try {
        const text = await go();
        if (mine === opened) dialog.close();
        notify(text);
        done?.();
      } catch (e) {
        show(error, "✕ ", e.message);
      } finally {
        submit.disabled = false;
      }
    },
  }, h("h2", { id: "dialog-title" }, title), body, error,
  h("div", { class: "actions" }, button(action ? "Cancel" : "Close", "Close without a change (Esc)", () => dialog.close()), submit));
  dialog.replaceChildren(form);
  dialog.className = wide ? "wide" : "";
  if (!dialog.open) dialog.showModal();
  else dialog.querySelector("input, select, button")?.focus();
  return { open: () => dialog.open && mine === opened, submit };
}

// durationField asks how long a change lasts; value() is what the API takes.
export function durationField(what) {
  const other = h("input", { type: "text", "aria-label": "Other duration", placeholder: "such as 45m or 12h", hidden: true, autocomplete: "off" });
  const choice = h("select", {
    name: "for",
    onchange: () => {
      other.hidden = choice.value !== "other";
      if (!other.hidden) other.focus();
    },
  }, [["", "until changed"], ["10m", "for 10 minutes"], ["1h", "for 1 hour"], ["1d", "for 1 day"], ["other", "other duration…"]].map(([value, text]) => h("option", { value }, text)));
  return {
    field: h("label", { class: "field" }, h("span", null, what), h("span", { class: "row" }, choice, other)),
    value() {
      if (choice.value === "other" && other.value.trim() === "") throw new Error("enter a duration such as 45m or 12h");
      return choice.value === "other" ? other.value.trim() : choice.value;
    },
  };
}
