// Acts and their outcomes: nothing happens twice, and nothing that a person typed is lost.

import { askAgain, askForOption, askToInterrupt } from "./dialogs.js";
import { el } from "./plans.js";
import { newName, send } from "./send.js";
import { toast } from "./toasts.js";

/** The names of acts with typed words whose answers were lost: the same words go out under the same name. */
const unanswered = new Map();

/**
 * Perform an act. `body` is the request, `words` name it for people. An act with typed words has the `text`, and
 * `trouble` shows a problem where the text is open. `row` shows that it is on its way. `isAnswer`: a refusal says itself
 * what became of the question.
 *
 * Resolves to `{ done }`, `{ left }`, or `{ edit }` with the answer after which the person goes on writing.
 */
export async function perform({ address, body, words, text, trouble, row, isAnswer }) {
  const written = trouble && JSON.stringify([address, body]);
  let name = unanswered.get(written) ?? newName(), isAnyway = false;
  for (;;) {
    row?.setAttribute("data-my-sending", "");
    const came = await send(address, body, name);
    row?.removeAttribute("data-my-sending");
    if (written && came.lost) unanswered.set(written, name);
    else unanswered.delete(written);
    if (came.done) {
      toast(isAnyway ? `${came.done.words} · Applied to revision ${came.done.from}` : came.done.words);
      return { done: came.done };
    }
    if (came.moved) {
      const choice = await askAgain({ words, text }, came.moved);
      if (choice === "discard") return { left: true };
      if (choice === "edit") return { edit: came.moved };
      body = choice === "instead" ? came.moved.instead.act : { ...body, seen: came.moved.revision, anyway: true };
      isAnyway = choice === "anyway";
      name = newName();
      continue;
    }
    if (came.interrupt || came.options) {
      const decided = came.interrupt ? await askToInterrupt() : await askForOption(came.options);
      if (!decided) return trouble ? {} : { left: true };
      const { verdict, ...rest } = body;
      body = came.interrupt ? { ...body, interrupt: true } : { ...rest, option: decided };
      name = newName();
      continue;
    }
    const why = isAnswer && came.refused ? came.refused : `Couldn't save: ${came.lost ?? came.refused}`;
    if (trouble) {
      trouble(why);
      return {};
    }
    if (!(await sayTrouble(words, why, Boolean(came.lost)))) return { left: true };
  }
}

const troubles = el("div", { class: "troubles", role: "region", "aria-label": "Not saved" });

/** Whether an act of the person has failed and waits for a decision. */
export const isTroubled = () => troubles.childElementCount > 0;

/** Show in a `box` what did not get through, until the person chooses one of the `buttons`. `decided` resolves to its
 * value. */
export function sayUnsent(title, words, buttons) {
  if (!troubles.isConnected) document.body.append(troubles);
  const box = el("div", { class: "trouble-notice", role: "alert" }, el("p", {}, el("b", {}, title), el("br"), words));
  const decided = new Promise((decide) => {
    const choices = buttons.map(({ label, value, kind }) =>
      el("button", { type: "button", class: kind, click: () => { box.remove(); decide(value); } }, label));
    box.append(el("div", { class: "dialog-buttons" }, ...choices));
  });
  troubles.append(box);
  return { box, decided };
}

const AGAIN = [{ label: "Try again", value: true, kind: "primary" }, { label: "Discard", value: false }];
const sayTrouble = (words, why, again) => sayUnsent(words, why, again ? AGAIN : [{ label: "Close", value: false }]).decided;
