// Steering with the mouse, by touch, and with keys. Every act names the revision on the page.

import { isTroubled } from "./acts.js";
import { askToRun, choose, isPicking, pick } from "./choose.js";
import { isWriting } from "./composer.js";
import { showKeys } from "./dialogs.js";
import { moveBy } from "./moves.js";
import { onChanged } from "./page.js";
import { focusOn, planOf, rowOf, rowsOf, statusKeys } from "./plans.js";
import { approve, isReviewing, reviewWith } from "./reviews.js";
import {
  PRIORITIES, add, comment, remove, reword, setPriority, setStatus, takeBack, tick, withdraw,
} from "./steps.js";
import { openMenu, startToolbar } from "./toolbar.js";

// ---------------------------------------------------------------- buttons

const deeds = {
  approve,
  "approve-with": (plan) => reviewWith(plan, "approve-with"),
  ask: (plan) => reviewWith(plan, "ask"),
  comment: (plan) => reviewWith(plan, "comment"),
  add: (plan) => add(plan, null),
  choose: pick,
};

async function clicked(event) {
  const button = event.target.closest("[data-do], [data-withdraw]");
  if (button?.dataset.do) return deeds[button.dataset.do](planOf(button));
  if (button?.dataset.withdraw) return withdraw(button);
  const row = rowOf(event.target);
  if (!row || event.target.closest("a, button, summary, input, textarea") || isPicking(planOf(row))) return;
  if (!getSelection().isCollapsed) return;
  focusOn(row);
  if (event.target.closest(".mark") && !event.target.closest(".ghost")) tick(row);
}

// ---------------------------------------------------------------- keys

// The same keys as in `planwire watch`, as far as both have them.
const stepKeys = {
  x: tick,
  " ": tick,
  o: openMenu,
  e: reword,
  a: (row) => add(planOf(row), row),
  c: comment,
  s: choose,
  r: askToRun,
  K: (row) => moveBy(row, -1, true),
  J: (row) => moveBy(row, 1, true),
  d: remove,
  Delete: remove,
  Backspace: remove,
  u: takeBack,
  m: openMenu,
  Enter: openMenu,
  ContextMenu: openMenu,
};
for (const [key, offer] of Object.entries(statusKeys)) stepKeys[key] = (row) => setStatus(row, offer);
PRIORITIES.forEach((each, at) => { stepKeys[at + 1] = (row) => setPriority(row, each); });
const planKeys = {
  v: (plan) => reviewWith(plan, "review"),
  c: (plan) => reviewWith(plan, "comment"),
  C: (plan) => reviewWith(plan, "comment"),
  A: (plan) => plan.dataset.edit && add(plan, null),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.matches("input, textarea, select")) return;
  if (document.querySelector("dialog[open], [popover]:popover-open")) return;
  const row = event.target.matches("[data-step]") ? rowOf(event.target) : null;
  const deed = deedFor(event, row);
  if (!deed) return;
  event.preventDefault();
  deed();
}

function deedFor(event, row) {
  const { key } = event;
  if (event.altKey) return row && { ArrowUp: () => moveBy(row, -1), ArrowDown: () => moveBy(row, 1) }[key];
  if (key === "?") return showKeys;
  if (row && stepKeys[key]) return () => stepKeys[key](row);
  if (row && ["ArrowDown", "ArrowUp", "Home", "End"].includes(key)) return () => walk(row, key);
  const plan = planOf(event.target) ?? onlyPlan();
  return plan && planKeys[key] ? () => planKeys[key](plan) : null;
}

function onlyPlan() {
  const plans = document.querySelectorAll("[data-steer]");
  return plans.length === 1 ? plans[0] : null;
}

function walk(row, key) {
  const rows = rowsOf(planOf(row)), here = rows.indexOf(row);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: rows.length - 1 }[key];
  const next = rows[Math.min(Math.max(to, 0), rows.length - 1)];
  next.tabIndex = 0;
  next.focus();
}

// ---------------------------------------------------------------- the focus

let last = null; // where the focus is: the element, its plan, and the place of its row

/** Of the rows of a plan, one can be reached with Tab: the one that had the focus, or the current one. */
function rove() {
  for (const plan of document.querySelectorAll("[data-edit]")) {
    if (plan.querySelector('[data-step][tabindex="0"]')) continue;
    const first = plan.querySelector('[data-step][aria-current="step"]') ?? plan.querySelector("[data-step]");
    if (first) first.tabIndex = 0;
  }
  if (!last || last.node.isConnected || document.activeElement !== document.body) return;
  const plan = document.getElementById(last.planId);
  if (plan) focusOn(rowsOf(plan)[Math.min(last.at, rowsOf(plan).length - 1)] ?? plan.querySelector("h2"));
}

function focused({ target }) {
  if (target.closest("[popover]")) return; // a menu is about the row from which it was opened
  const plan = planOf(target), row = rowOf(target);
  last = plan && { node: target, planId: plan.id, at: row ? rowsOf(plan).indexOf(row) : -1 };
  if (target !== row) return;
  for (const other of plan.querySelectorAll('[data-step][tabindex="0"]')) if (other !== row) other.tabIndex = -1;
  row.tabIndex = 0;
}

export function start() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  document.addEventListener("focusin", focused);
  addEventListener("beforeunload", (event) => {
    if (isWriting() || isTroubled() || isReviewing()) event.preventDefault();
  });
  onChanged(rove);
  rove();
  startToolbar();
  document.documentElement.classList.add("steering"); // what can be pressed is shown from here on
}
