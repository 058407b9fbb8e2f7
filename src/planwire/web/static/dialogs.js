// Dialogs. Each exists only while it is open; then the focus returns to where it was.

import { element } from "./page.js";
import { el } from "./plans.js";
import { showTimes } from "./times.js";

let count = 0;

/**
 * Show a dialog until one of its buttons is pressed; resolves to the value of that button. Escape is `cancel`. `first`
 * is what has the focus at first, if it is not a button.
 */
export function ask({ title, body = [], buttons, cancel, wide = false, first }) {
  return new Promise((decided) => {
    const { dialog, close } = open(title, wide, body, (value) => decided(value ?? cancel));
    const row = el("div", { class: "dialog-buttons" });
    for (const { label, value, kind } of buttons) {
      row.append(el("button", { type: "button", class: kind, click: () => close(value) }, label));
    }
    dialog.append(row);
    (first ?? row.querySelector(".primary") ?? row.lastElementChild).focus();
  });
}

/** Open a dialog. Returns it and the function that closes it; `closed` gets the value that this was called with, if
 * any. */
export function open(title, wide, body, closed = () => {}) {
  const id = `dialog-${++count}`;
  const dialog = el("dialog", { class: wide ? "wide" : null, "aria-labelledby": id }, el("h2", { id }, title), ...body);
  let value;
  const close = (given) => { value = given; dialog.close(); };
  dialog.addEventListener("close", () => { dialog.remove(); closed(value); });
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, close };
}

/** Ask before something is removed. */
export const confirm = (title, words, label) => ask({
  title,
  body: [el("p", {}, words)],
  cancel: false,
  buttons: [{ label, value: true, kind: "primary danger" }, { label: "Cancel", value: false }],
});

/** Ask whether to cancel a turn, in which the agent can't be told anything. */
export const askToInterrupt = () => ask({
  title: "Tell it now?",
  body: [el("p", {}, "The agent is working and can't be told anything in its turn. Cancel its turn and tell it now?")],
  cancel: false,
  buttons: [{ label: "Cancel its turn and tell it", value: true, kind: "primary danger" }, { label: "Not now", value: false }],
});

/** Ask which of the agent's own answers is meant. */
export const askForOption = (options) => ask({
  title: "Choose an answer",
  body: [el("p", {}, "The agent offers these:")],
  cancel: null,
  buttons: [...options.map(({ id, name }) => ({ label: name, value: id })), { label: "Cancel", value: null, kind: "quiet" }],
});

/** The plan moved on: show what became of it and what was about to be done, and ask what to do now. */
export function askAgain({ words, text }, moved) {
  const typed = text !== undefined;
  const buttons = [
    ...(moved.anyway ? [{ label: "Send anyway", value: "anyway", kind: "primary" }] : []),
    ...(moved.instead ? [{ label: moved.instead.label, value: "instead", kind: "primary" }] : []),
    ...(typed ? [{ label: "Edit", value: "edit" }] : []),
    { label: "Discard", value: "discard" },
  ];
  const region = { class: "moved-box", tabindex: 0, role: "region", "aria-label": "what changed" };
  const difference = el("div", region, element(moved.html));
  showTimes(difference);
  return ask({
    title: typed ? "The plan changed while you were typing." : "The plan changed.",
    wide: true,
    first: difference, // a person about to press Enter once more should look first
    cancel: typed ? "edit" : "discard",
    buttons,
    body: [
      el("p", {}, "Since then:"),
      difference,
      moved.missing.length ? el("p", { class: "composer-trouble" }, "The step is no longer in the plan.") : null,
      el("p", { class: "about-to" }, el("b", {}, words)),
      typed ? el("blockquote", { dir: "auto" }, text) : null,
    ].filter(Boolean),
  });
}
