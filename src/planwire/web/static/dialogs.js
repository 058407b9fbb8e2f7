// Dialogs. Each lives while it is open; then the focus returns to where it was.

import { element } from "./page.js";
import { el, statusKeys } from "./plans.js";
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

/** A dialog that is open, with what closes it. `closed` is told the value with which that happens, if there is one. */
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

/** The plan moved on: what became of it, what was about to be done, and the question what to do now. */
export function askAgain(act, moved) {
  const missing = moved.missing.length > 0;
  const instead = missing && act.instead?.(moved);
  const buttons = [
    ...(missing ? [] : [{ label: "Do it anyway, to the plan as it is now", value: "anyway", kind: "primary" }]),
    ...(instead ? [{ label: instead.label, value: "instead", kind: "primary" }] : []),
    ...(act.text === undefined ? [] : [{ label: "Change what I wrote", value: "edit" }]),
    { label: "Leave it", value: "leave" },
  ];
  const gone = "A step that you meant is no longer in the plan.";
  const region = { class: "moved-box", tabindex: 0, role: "region", "aria-label": "what changed" };
  const difference = el("div", region, element(moved.html));
  showTimes(difference);
  return ask({
    title: "The plan has changed meanwhile",
    wide: true,
    first: difference, // who is about to press Enter once more should look first
    cancel: act.text === undefined ? "leave" : "edit",
    buttons,
    body: [
      el("p", {}, "Nothing was written. This happened to the plan since what you saw:"),
      difference,
      el("p", { class: "about-to" }, el("b", {}, "You were about to: "), act.words),
      act.text === undefined ? null : el("blockquote", { dir: "auto" }, act.text),
      missing ? el("p", { class: "composer-trouble" }, gone) : null,
    ].filter(Boolean),
  });
}

const keys = [
  ["On a step", [
    ["j k ↓ ↑", "next, previous step"],
    ["x Space", "done, or not done"],
    ...Object.values(statusKeys).map(([label, key]) => [key, label.toLowerCase()]),
    ["e", "reword"],
    ["a", "add a step below"],
    ["c", "comment"],
    ["s", "select it to be run"],
    ["r", "run the selected steps, or this one"],
    ["Alt ↑ ↓", "move; let go of Alt to put it there"],
    ["K J", "move up, move down"],
    ["1 2 3", "high, medium, low priority"],
    ["d Delete", "remove"],
    ["u", "take a wish back"],
    ["m Enter", "a menu of all these"],
  ]],
  ["On a plan", [
    ["n p", "next, previous plan"],
    ["v", "review: approve, or ask for changes"],
    ["C", "comment on the plan"],
    ["A", "add a step at the end"],
  ]],
  ["Anywhere", [["?", "these keys"], ["Escape", "leave what is open; what you wrote is kept"]]],
];

export function showKeys() {
  const line = ([names, does]) =>
    el("div", {}, el("dt", {}, ...names.split(" ").map((name) => el("kbd", {}, name))), el("dd", {}, does));
  const section = ([name, lines]) =>
    el("section", {}, el("h3", {}, name), el("dl", { class: "keys" }, ...lines.map(line)));
  const body = [el("div", { class: "key-sections" }, ...keys.map(section))];
  ask({ title: "Keys", body, buttons: [{ label: "Close", kind: "primary" }], wide: true });
}
