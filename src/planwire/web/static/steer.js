// Steering with the mouse, by touch, and with keys. The table of acts says which keys there are.

import { isPicking, pick } from "./choose.js";
import { isWriting } from "./composer.js";
import { begin, select } from "./doing.js";
import { openMenu, openPlanMenu } from "./menu.js";
import { onChanged } from "./page.js";
import { selected } from "./passages.js";
import { isTroubled, perform } from "./perform.js";
import { ROW, actsOf, canUndo, focusOn, planOf, rowOf, rowsOf } from "./plans.js";
import { commentOnSelection, startQuoting } from "./quoting.js";
import { startReview } from "./review.js";
import { ACTS } from "./table.js";
import { startToolbar } from "./toolbar.js";
import { isInDialog } from "./writing.js";

// ---------------------------------------------------------------- buttons

function clicked(event) {
  const button = event.target.closest("[data-act], [data-menu], [data-reopen]");
  if (button) return press(button);
  const row = rowOf(event.target);
  if (!row || event.target.closest("a, button, summary, input, textarea") || isPicking(planOf(row))) return;
  if (!getSelection().isCollapsed) return;
  focusOn(row);
  if (event.target.closest(".mark") && row.dataset.step) begin("tick", planOf(row), row);
}

function press(button) {
  const { act, target, reopen } = button.dataset, plan = planOf(button) ?? document.getElementById(button.dataset.plan);
  if (reopen) return perform({ address: reopen, body: { act: "reopen" }, words: "Reopen the plan" });
  if (!act) return openPlanMenu(button);
  if (act === "select") return pick(plan);
  return begin(act, plan, null, target ? { target } : {});
}

// ---------------------------------------------------------------- keys

/** The keys of the acts: what each is on, and what it does there. */
const gestures = new Map();
for (const [name, act] of Object.entries(ACTS)) {
  for (const { keys, on, given } of act.gestures) for (const key of keys) gestures.set(key, { name, on, given });
}
/** Keys of the board's own. */
const own = { s: select, m: openMenu, Enter: openMenu, ContextMenu: openMenu };
const ON_AGENT = ["tell", "stop"];
const ALIASES = { " ": "Space", Backspace: "Delete", ArrowUp: "Up", ArrowDown: "Down" };

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.matches("input, textarea, select")) return;
  if (document.querySelector("dialog[open], [popover]:popover-open")) return;
  const row = event.target === rowOf(event.target) ? event.target : null;
  const act = actFor(event, row);
  if (!act) return;
  event.preventDefault();
  act();
}

function actFor(event, row) {
  const key = ALIASES[event.key] ?? event.key;
  if (row && !event.altKey && own[key]) return () => own[key](row);
  if (row && !event.altKey && ["Down", "Up", "Home", "End"].includes(key)) return () => walk(row, key);
  const gesture = gestures.get(event.altKey ? `Alt+${key}` : key);
  if (gesture?.name === "comment" && selected()) return commentOnSelection;
  const plan = planOf(event.target) ?? onlyPlan() ?? anyPlan(gesture?.name);
  if (!gesture || !plan) return null;
  const { name, on, given } = gesture;
  if (on === "plan") return () => begin(name, plan, null, given);
  if (row || !ACTS[name].target) return () => begin(name, plan, row, given);
  return null;
}

function onlyPlan() {
  const plans = document.querySelectorAll("[data-steer]");
  return plans.length === 1 ? plans[0] : null;
}

/** A plan that takes an act on the agent itself, which is the same on each of them; or the one with a verdict to undo. */
function anyPlan(name) {
  const plans = [...document.querySelectorAll("[data-steer]")];
  if (name === "withdraw") return plans.find(canUndo) ?? null;
  return ON_AGENT.includes(name) ? plans.find((plan) => actsOf(plan).includes(name)) ?? plans[0] : null;
}

function walk(row, key) {
  const rows = rowsOf(planOf(row)), here = rows.indexOf(row);
  const to = { Down: here + 1, Up: here - 1, Home: 0, End: rows.length - 1 }[key];
  const next = rows[Math.min(Math.max(to, 0), rows.length - 1)];
  next.tabIndex = 0;
  next.focus();
}

// ---------------------------------------------------------------- the focus

let last = null; // where the focus is: the element, its plan, and the place of its row

/** Let Tab reach one row of each plan: the one that had the focus, or the current one. */
function rove() {
  for (const plan of document.querySelectorAll("[data-steer]")) {
    const now = plan.querySelector(`${ROW}[tabindex="0"]`);
    if (now?.checkVisibility()) continue; // to look at thousands of rows takes time
    if (now) now.tabIndex = -1;
    const rows = rowsOf(plan);
    const first = rows.find((row) => row.ariaCurrent === "step") ?? rows[0];
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
  for (const other of plan.querySelectorAll(`${ROW}[tabindex="0"]`)) if (other !== row) other.tabIndex = -1;
  row.tabIndex = 0;
}

export function start() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  document.addEventListener("focusin", focused);
  addEventListener("beforeunload", (event) => {
    if (isWriting() || isTroubled() || isInDialog()) event.preventDefault();
  });
  onChanged(rove);
  rove();
  startToolbar();
  startReview();
  startQuoting();
  document.documentElement.classList.add("steering"); // what can be pressed is shown from here on
}
