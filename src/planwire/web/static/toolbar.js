// One toolbar for all steps, on the row under the mouse or with the focus, made from the table of acts.

import { choose } from "./choose.js";
import { begin, takes } from "./doing.js";
import { icon } from "./icons.js";
import { openMenu } from "./menu.js";
import { grip, isMoving } from "./moves.js";
import { onChanged } from "./page.js";
import { el, focusOn, isFinished, nameOf, offersOf, planOf, rowOf } from "./plans.js";
import { ACTS } from "./table.js";

let row = null; // where the toolbar is

/** The acts that have a button: those with a main key on a step, and the way out of a suggestion. */
const NAMES = Object.keys(ACTS).filter((name) => name !== "select" && ACTS[name].gestures.some(
  (each) => (each.main && each.on === "step") || (each.on === "remark" && ACTS[name].suggested),
));

const button = (name, label, key, act) => el(
  "button",
  {
    type: "button", tabindex: -1, "aria-label": label, "aria-keyshortcuts": key, title: key ? `${label} (${key})` : label,
    "data-of": name, click: (event) => press(event, act),
  },
  icon(name),
);
const handle = button("grip", "Drag to move", null, () => {});
const acts = NAMES.map((name) => {
  const { label, keys } = ACTS[name].gestures[0];
  return button(name, label, keys[0], () => begin(name, planOf(row), row));
});
const chooser = button("select", "Select to run", "s", () => choose(row));
const more = button("more", "More", "m", () => openMenu(row));
const bar = el(
  "div", { class: "toolbar", id: "toolbar", role: "toolbar", "data-my-guest": true }, handle, ...acts, chooser, more,
);
acts[0].tabIndex = 0; // from a row, Tab leads here; the arrows walk on
grip(handle, () => row);

function press(event, act) {
  event.stopPropagation();
  const here = row;
  if (event.detail) focusOn(here); // a click: the keys go on working from here
  act();
}

function attach(next) {
  if (isMoving() || next === row) return;
  if (bar.contains(document.activeElement)) focusOn(row);
  row = next;
  show();
}

/** Bring the toolbar to its row, if it is not there, and make it fit the row. */
function show() {
  if (!row?.isConnected || !planOf(row)) row = null;
  if (!row) return bar.remove();
  const plan = planOf(row), ghost = row.dataset.suggestion !== undefined;
  for (const each of acts) setHidden(each, !takes(plan, each.dataset.of, row) || (!ghost && each.dataset.of === "withdraw"));
  setHidden(handle, ghost || !takes(plan, "move", row));
  setHidden(chooser, ghost || isFinished(row) || !takes(plan, "select", row));
  setHidden(more, ghost);
  if (!ghost) showTick(acts.find((each) => each.dataset.of === "tick"));
  chooser.setAttribute("aria-pressed", row.hasAttribute("data-my-chosen"));
  bar.setAttribute("aria-label", `Step ${nameOf(row)}`);
  if (row.lastElementChild !== bar) row.append(bar);
}

const setHidden = (each, is) => { if (each.hidden !== is) each.hidden = is; };

/** Make the button for a tick say what a tick does here. */
function showTick(ticker) {
  const { label, key, look } = offersOf(row)[0];
  if (ticker.getAttribute("aria-label") === label) return;
  ticker.replaceChildren(icon(look));
  ticker.setAttribute("aria-label", label);
  ticker.title = `${label} (${key})`;
}

export function startToolbar() {
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const over = rowOf(event.target);
    if (over || !bar.contains(document.activeElement)) attach(over ?? rowOf(document.activeElement));
  });
  document.addEventListener("focusin", (event) => {
    if (!event.target.closest("[popover]")) attach(rowOf(event.target));
  });
  bar.addEventListener("keydown", (event) => {
    const buttons = [...bar.querySelectorAll("button:not([hidden])")];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") { event.stopPropagation(); focusOn(row); }
    if (!by) return;
    event.preventDefault();
    buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length].focus();
  });
  onChanged(show);
}
