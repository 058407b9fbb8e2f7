// Menus: all acts on a step, and all acts on a plan as a whole. Both are made from the table of acts.

import { choose } from "./choose.js";
import { askWith, begin, takes } from "./doing.js";
import { onChanged } from "./page.js";
import { el, focusOn, isFinished, nameOf, offersOf, planName, planOf } from "./plans.js";
import { ACTS } from "./table.js";
import { say } from "./toasts.js";

const menu = el("div", { class: "menu", role: "menu", popover: "auto" });
let opener = null;

/** The acts whose entries the menu of statuses has already. */
const STATUSES = ["tick", "set_status"];
/** To remove a suggested step is to withdraw it, which has an entry of its own. */
const REMOVALS = ["remove"];
/** What has ended has no row, but a button of its own. */
const ENDED = ["reopen"];

/** The entries of one kind: [label, key, what to do], with null around several entries of one act. */
function entries(on, plan, row, without = STATUSES) {
  return Object.entries(ACTS).flatMap(([name, { gestures }]) => {
    const fit = gestures.filter((each) => each.on === on && !without.includes(name));
    if (!fit.length || !takes(plan, name, row)) return [];
    const group = fit.map(({ label, keys, given }) => [label, keys.at(-1), () => begin(name, plan, row, given)]);
    return group.length > 1 ? [null, ...group, null] : group;
  });
}

function entriesOfRow(row) {
  const plan = planOf(row);
  if (row.dataset.suggestion) return [...entries("step", plan, row, REMOVALS), ...entries("remark", plan, row, ENDED)];
  const statuses = takes(plan, "tick", row)
    ? offersOf(row).map(({ label, key, act, arguments: given }) => [label, key, () => begin(act, plan, row, given)])
    : [];
  const chosen = row.hasAttribute("data-my-chosen") ? "Deselect" : "Select to run";
  return [
    ...statuses, null, ...entries("step", plan, row), ...entries("remark", plan, row, ENDED),
    ...(takes(plan, "select", row) && !isFinished(row) ? [null, [chosen, "s", () => choose(row)]] : []),
  ];
}

/** Open the menu of a step. */
export function openMenu(row) {
  openAt(row, entriesOfRow(row), nameOf(row), row.querySelector(":scope > #toolbar > :last-child") ?? row);
}

/** Open the menu of a plan, at its button. */
export function openPlanMenu(button) {
  const plan = planOf(button);
  openAt(button, entries("plan", plan, null), planName(plan), button);
}

function openAt(from, list, name, anchor) {
  opener = from;
  const isNeeded = (entry, at) => entry || (list.slice(0, at).some(Boolean) && list[at + 1]);
  const items = list.filter(isNeeded).map((entry) => {
    if (!entry) return el("hr", { role: "separator" });
    const [label, key, act] = entry;
    const values = { type: "button", role: "menuitem", tabindex: -1, click: () => { menu.hidePopover(); act(); } };
    return el("button", values, label, key ? el("kbd", { "aria-hidden": "true" }, key) : null);
  });
  if (!items.length) return;
  menu.replaceChildren(...items);
  menu.setAttribute("aria-label", name);
  if (!menu.isConnected) document.querySelector(".bar").append(menu); // a landmark
  menu.showPopover();
  const at = anchor.getBoundingClientRect();
  const left = Math.min(Math.max(at.right - menu.offsetWidth, 8), innerWidth - menu.offsetWidth - 8);
  const below = at.bottom + 4 + menu.offsetHeight < innerHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${below ? at.bottom + 4 : Math.max(at.top - menu.offsetHeight - 4, 8)}px`;
  menu.firstElementChild.focus();
}

askWith("set_status", ({ row }) => openMenu(row));
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
