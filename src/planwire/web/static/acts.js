// Acts on a plan and their outcomes: nothing happens twice, and nothing that a person typed is lost.
//
// An act has an `address`, a `path` below it, the `revision` on the page when it began, and a `body`; `words` name it for
// people. An act with typed words has the `text`, and `trouble` shows a problem where the text is open. `instead` makes
// the act that is left if its step is gone. `row` shows that the act is on its way.

import { ask, askAgain } from "./dialogs.js";
import { el, say } from "./plans.js";
import { send } from "./send.js";

/** Perform an act. Resolves to `{ done }`, `{ left }`, or `{ edit }` with the revision that the person has seen now. */
export async function perform(act) {
  for (;;) {
    act.row?.setAttribute("data-my-sending", "");
    const came = await send(act);
    act.row?.removeAttribute("data-my-sending");
    if (came.done) {
      say(`${came.done.unchanged ? "Already so" : came.done.wished ? "Wished" : "Done"}: ${act.words}`);
      return { done: came.done };
    }
    if (came.moved) {
      const choice = await askAgain(act, came.moved);
      if (choice === "leave") return { left: true };
      if (choice === "edit") return { edit: came.moved.revision };
      const next = choice === "instead" ? act.instead(came.moved) : act;
      act = { ...act, ...next, revision: came.moved.revision };
      continue;
    }
    if (act.trouble) {
      act.trouble(came.lost ?? came.refused);
      return {};
    }
    if (!(await sayTrouble(act.words, came.lost ?? came.refused, Boolean(came.lost)))) return { left: true };
  }
}

// ---------------------------------------------------------------- what could not be done

const troubles = el("div", { class: "troubles", role: "region", "aria-label": "Not done" });

/** Whether an act of the person has failed and waits for a decision. */
export const isTroubled = () => troubles.childElementCount > 0;

function sayTrouble(words, why, again) {
  if (!troubles.isConnected) document.body.append(troubles);
  return new Promise((decided) => {
    const decide = (value) => () => { notice.remove(); decided(value); };
    const notice = el(
      "div", { class: "trouble-notice", role: "alert" },
      el("p", {}, el("b", {}, `Not done: ${words}`), el("br"), why),
      el("div", { class: "dialog-buttons" },
        again ? el("button", { type: "button", class: "primary", click: decide(true) }, "Try again") : null,
        el("button", { type: "button", click: decide(false) }, again ? "Leave it" : "Close")),
    );
    troubles.append(notice);
  });
}

export const confirm = (title, words, label) => ask({
  title,
  body: [el("p", {}, words)],
  cancel: false,
  buttons: [{ label, value: true, kind: "primary danger" }, { label: "Keep it", value: false }],
});
