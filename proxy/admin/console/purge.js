// Purges, and drops of one entry: what they would reach is shown before.
import { ask, change } from "./api.js";
import { openDialog, Wrong } from "./ask.js";
import { h } from "./dom.js";
import { t } from "./language.js";
import { bytes, pendingNote, plural } from "./text.js";

// purge shows what it would reach before it can be confirmed. of is what of an API it is about: its url, a prefix, a tag or a group.
export function purge(endpoint, key, refresh, of = {}) {
  const preview = h("p", { class: "preview", role: "status" });
  const modes = [["soft", t("Soft"), t("entries become stale: the next request refreshes them, and they are served if that fails")], ["hard", t("Hard"), t("entries are removed: the next request waits for a new answer")]];
  let mode = key ? "hard" : "", dialog; // how is for the operator to say
  const look = async () => {
    dialog.submit.disabled = true;
    dialog.right();
    preview.textContent = t("Counting…");
    const asked = mode;
    try {
      const { entries, bytes: size } = await ask("purge", { endpoint, key, mode, preview: true, ...of });
      if (asked !== mode) return;
      preview.textContent = said(entries, size);
      dialog.submit.disabled = false;
    } catch (e) {
      if (asked !== mode || !dialog.open()) return;
      preview.textContent = t("It is not known what this would reach.");
      dialog.wrong(key ? e : new Wrong("mode", e.message));
    }
  };
  const said = (entries, size) => {
    if (key) return entries > 0 ? t("This entry ({size}) will be removed. The next request for it waits for a new answer.", { size: bytes(size) }) : t("This instance no longer has this entry; others may. The next request for it waits for a new answer.");
    return mode === "soft" ? t("{entries}, {size} in this instance's memory would become stale.", reached(entries, size)) : t("{entries}, {size} in this instance's memory would be removed.", reached(entries, size));
  };
  const choose = ([value, label, what]) => {
    const input = h("input", { type: "radio", name: "mode", value, onchange: () => {
      mode = value;
      look();
    } });
    return h("label", { class: "choice" }, input, h("span", null, h("strong", null, label), h("span", { class: "soft" }, ` – ${what}`)));
  };
  const what = key || of.url || (of.prefix && `${of.prefix}…`) || (of.tag && t("tag {tag}", { tag: of.tag })) || (of.group && t("cache group {group}", { group: of.group })) || (endpoint === "*" ? t("all endpoints and APIs") : t("all of {name}", { name: endpoint }));
  dialog = openDialog({
    title: key ? t("Drop an entry") : endpoint === "*" ? t("Purge everything") : t("Purge {name}", { name: endpoint }),
    action: key ? t("Drop") : t("Purge"), danger: true, done: refresh,
    body: [
      h("p", { class: "mono words" }, what),
      !key && h("fieldset", null, h("legend", null, t("How")), modes.map(choose)),
      preview,
      h("p", { class: "soft" }, t("This applies to every instance, and to Redis if it is configured. It cannot be undone.")),
    ],
    async go() {
      const done = await change("POST", "purge", key ? { endpoint, key } : { endpoint, mode, ...of });
      return (key ? t("Dropped {what}: {entries}, {size} on this instance", { what, ...reached(done.entries, done.bytes) }) : t("Purged {what}: {entries}, {size} on this instance", { what, ...reached(done.entries, done.bytes) })) + pendingNote(done);
    },
  });
  if (key) return look();
  dialog.submit.disabled = true;
  preview.textContent = t("Choose how.");
}

const reached = (entries, size) => ({ entries: plural(entries, "entry", "entries"), size: bytes(size) });
