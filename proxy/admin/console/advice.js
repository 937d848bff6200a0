// What the advisor says of each endpoint's rule.
import { part, read } from "./api.js";
import * as autopilot from "./autopilot.js";
import { small } from "./curve.js";
import { h } from "./dom.js";
import { own, t } from "./language.js";
import { tune } from "./tune.js";
import { verdict, word } from "./verdict.js";

const every = 60_000;
const known = new Map(); // by endpoint: the advice, what the autopilot does, and when that was asked for
let asking = false;

// renew asks for the advice that is not known or old, one after the other.
export async function renew(names) {
  if (asking) return;
  asking = true;
  try {
    for (const name of names) {
      if (Date.now() - (known.get(name)?.at ?? 0) < every) continue;
      const [advice, pilot] = await Promise.all(["advice", "autopilot"].map((what) => read(`endpoints/${part(name)}/${what}`)));
      known.set(name, { at: Date.now(), advice, pilot });
    }
  } catch {
    // What is missing is asked for again by the next renewal, which also reports a server that is gone.
  } finally {
    asking = false;
  }
}

// cell shows the advice in one word beside the curve, and opens it.
export function cell(e, refresh) {
  if (!known.has(e.name)) return h("span", { class: "soft" }, "…");
  const { advice, pilot } = known.get(e.name);
  const open = () => tune(e, advice, pilot, () => {
    known.get(e.name).at = 0;
    refresh();
  });
  return [h("button", { type: "button", class: "advice", onclick: open, title: own(advice.reason), "aria-label": t("{advice}: advice for {name}", { advice: word(advice), name: e.name }) },
    verdict(advice), advice.curve.length > 1 && small(advice)), autopilot.mark(pilot)];
}
