// What a list of entries leaves out, and the way to it.
import { button, h } from "./dom.js";
import { t } from "./language.js";

export const few = 25, most = 1000; // what is listed at first, and what the API lists

// more offers to list more than the limit did of all that there are.
export const more = (all, listed, limit, act) => all > listed && h("p", { key: "more" },
  limit < most && button(t("Show up to 1000"), t("List more entries"), act), h("span", { class: "soft" }, t(" The newest {n} are listed.", { n: listed })));
