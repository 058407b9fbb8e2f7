// Comments on selected text: a button at the selection, and the key of a comment.

import { compose } from "./composer.js";
import { blockOf, rangesOf, selected } from "./passages.js";
import { perform } from "./perform.js";
import { actsOf, el, named } from "./plans.js";
import { pend } from "./review.js";
import { ACTS } from "./table.js";

const { label, gestures: [{ keys: [key] }] } = ACTS.comment;
const button = el("button", { type: "button", class: "quote-button primary", "aria-keyshortcuts": key, click: commentOnSelection }, label);
button.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays

/** Comment on what is selected. Where a verdict can follow, the comment waits for it. */
export function commentOnSelection() {
  const found = selected();
  if (!found) return;
  const { plan, passage } = found, name = named(passage.text);
  hide();
  getSelection().removeAllRanges();
  if (actsOf(plan).includes("review")) return pend(plan, { passage, name });
  const title = `${label} on ${name}`, address = plan.dataset.steer;
  const at = () => { const [range] = rangesOf(plan, [passage]); return range && blockOf(range); };
  const submit = (text, seen, trouble, more) =>
    perform({ address, body: { act: "comment", seen, text, passage, ...more }, words: title, text, trouble });
  compose({ plan, row: null, kind: `quote ${JSON.stringify(passage)}`, title, label, at, keeps: true, submit });
}

const hide = () => button.remove();

function show() {
  const found = selected();
  if (!found || !actsOf(found.plan).includes("comment")) return hide();
  const boxes = found.range.getClientRects(), box = boxes[boxes.length - 1];
  if (!box) return hide();
  if (!button.isConnected) document.body.append(button);
  button.style.left = `${Math.min(box.right, innerWidth - button.offsetWidth - 8) + scrollX}px`;
  button.style.top = `${box.bottom + 4 + scrollY}px`;
}

export function startQuoting() {
  let isDragging = false; // with the mouse: the button would be in its way
  document.addEventListener("pointerdown", ({ pointerType }) => { isDragging = pointerType === "mouse"; });
  document.addEventListener("pointerup", () => { isDragging = false; setTimeout(show); });
  document.addEventListener("selectionchange", () => { if (!isDragging || !selected()) show(); });
}
