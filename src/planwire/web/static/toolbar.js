// One toolbar for all steps, on the row under the mouse or with the focus, and a menu with all acts.

import { choose } from "./choose.js";
import { icon } from "./icons.js";
import { grip, isMoving, moveBy } from "./moves.js";
import { onChanged } from "./page.js";
import { el, focusOn, nameOf, offersOf, planOf, rowOf, say } from "./plans.js";
import {
  PRIORITIES, add, comment, hasPriorities, remove, reword, setPriority, setStatus, tick,
} from "./steps.js";

let row = null; // where the toolbar is

// ---------------------------------------------------------------- the toolbar

const button = (name, label, keys, act) => el(
  "button",
  {
    type: "button", tabindex: -1, "aria-label": label, "aria-keyshortcuts": keys,
    title: keys ? `${label} (${keys})` : label, click: (event) => press(event, act),
  },
  icon(name),
);
const handle = button("grip", "Drag to move", null, () => {});
const ticker = button("done", "Done", "x", () => tick(row));
const chooser = button("select", "Select to run", "s", () => choose(row));
const bar = el(
  "div", { class: "toolbar", id: "toolbar", role: "toolbar", "data-my-guest": true },
  handle, ticker,
  button("reword", "Reword", "e", () => reword(row)),
  button("add", "Add a step below", "a", () => add(planOf(row), row)),
  button("comment", "Comment", "c", () => comment(row)),
  chooser,
  button("more", "More", "m", () => openMenu(row)),
);
ticker.tabIndex = 0; // from a row, Tab leads here; the arrows walk on
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

/** Bring the toolbar to its row, if it is not there, and make it say what the row says. */
function show() {
  if (!row?.isConnected) row = null;
  if (!row) return bar.remove();
  const [label, , , look] = offersOf(row)[0];
  if (ticker.getAttribute("aria-label") !== label) {
    ticker.replaceChildren(icon(look));
    ticker.setAttribute("aria-label", label);
    ticker.title = `${label} (x)`;
  }
  chooser.setAttribute("aria-pressed", row.hasAttribute("data-my-chosen"));
  bar.setAttribute("aria-label", `Step ${nameOf(row)}`);
  if (row.lastElementChild !== bar) row.append(bar);
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
    const buttons = [...bar.querySelectorAll("button")];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") { event.stopPropagation(); focusOn(row); }
    if (!by) return;
    event.preventDefault();
    buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length].focus();
  });
  onChanged(show);
}

// ---------------------------------------------------------------- the menu

const menu = el("div", { class: "menu", role: "menu", popover: "auto" });
let opener = null;

const entries = (of) => [
  ...offersOf(of).map((offer) => [offer[0], offer[1], () => setStatus(of, offer)]),
  null,
  ["Reword …", "e", () => reword(of)],
  ["Add a step below …", "a", () => add(planOf(of), of)],
  ["Comment …", "c", () => comment(of)],
  [of.hasAttribute("data-my-chosen") ? "Select no more" : "Select to run", "s", () => choose(of)],
  null,
  ["Move up", "Alt ↑", () => moveBy(of, -1, true)],
  ["Move down", "Alt ↓", () => moveBy(of, 1, true)],
  ...(hasPriorities(planOf(of))
    ? [null, ...PRIORITIES.map((each, at) => [`Priority ${each}`, `${at + 1}`, () => setPriority(of, each)])]
    : []),
  null,
  ["Remove", "Delete", () => remove(of)],
];

export function openMenu(of) {
  opener = of;
  const items = entries(of).map((entry) => {
    if (!entry) return el("hr", { role: "separator" });
    const [label, key, act] = entry;
    const choose = () => { menu.hidePopover(); act(); };
    const values = { type: "button", role: "menuitem", tabindex: -1, click: choose };
    return el("button", values, label, key ? el("kbd", { "aria-hidden": "true" }, key) : null);
  });
  menu.replaceChildren(...items);
  menu.setAttribute("aria-label", `Step ${nameOf(of)}`);
  if (!menu.isConnected) document.body.append(menu);
  menu.showPopover();
  const at = (bar.isConnected && bar.parentElement === of ? bar.lastElementChild : of).getBoundingClientRect();
  const left = Math.min(Math.max(at.right - menu.offsetWidth, 8), innerWidth - menu.offsetWidth - 8);
  const below = at.bottom + 4 + menu.offsetHeight < innerHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${below ? at.bottom + 4 : Math.max(at.top - menu.offsetHeight - 4, 8)}px`;
  menu.firstElementChild.focus();
}

menu.addEventListener("keydown", (event) => {
  const items = [...menu.querySelectorAll("button")];
  const here = items.indexOf(document.activeElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 }[event.key];
  event.stopPropagation();
  if (event.key === "Tab") { event.preventDefault(); menu.hidePopover(); }
  if (to === undefined) return;
  event.preventDefault();
  items[(to + items.length) % items.length].focus();
});
onChanged(() => {
  if (!menu.matches(":popover-open") || opener.isConnected) return;
  document.activeElement.blur(); // so that the row in its place gets the focus
  menu.hidePopover();
  say("This step is no longer in the plan");
});
menu.addEventListener("toggle", (event) => {
  if (event.newState !== "closed") return;
  const active = document.activeElement;
  if (opener?.isConnected && (active === document.body || menu.contains(active))) focusOn(opener);
});
