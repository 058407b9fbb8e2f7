// The choice of steps to run. It is about the plan as it was when the person chose the first of them.

import { onChanged } from "./page.js";
import { el, focusStep, nameOf, planName, planOf, revisionOf, rowBy, rowOf, say } from "./plans.js";
import { review } from "./steps.js";

let chosen = null; // { planId, address, revision, steps }

const run = el("button", { type: "button", class: "primary", click: () => runChosen() });
const bar = el(
  "div", { class: "run-bar", role: "region", "aria-label": "Steps to run" },
  run, el("button", { type: "button", click: () => clear({ back: true }) }, "Choose none"),
  el("span", { class: "hint" }, "The agent is told to run these, and no others for now."),
);

/** Choose a step, or choose it no more. */
export function choose(row) {
  const plan = planOf(row), { step } = row.dataset;
  if (chosen?.planId !== plan.id) {
    clear();
    chosen = { planId: plan.id, address: plan.dataset.steer, revision: revisionOf(plan), steps: new Set() };
  }
  if (!chosen.steps.delete(step)) chosen.steps.add(step);
  say(`${nameOf(row)} ${chosen.steps.has(step) ? "selected" : "not selected"}, ${count()} in all`);
  show();
}

/** Let a click anywhere on a step choose it, or no more. */
export function pick(plan) {
  const on = plan.toggleAttribute("data-my-picking");
  if (!on && chosen?.planId === plan.id) clear();
  say(on ? "Choose the steps that are to be run" : "No steps are chosen");
  show();
}

export const isPicking = (plan) => plan.hasAttribute("data-my-picking");
const count = () => `${chosen.steps.size} ${chosen.steps.size === 1 ? "step" : "steps"}`;

export function clear({ back = false } = {}) {
  if (!chosen) return;
  const { planId, steps } = chosen;
  for (const step of steps) rowBy(planId, step)?.removeAttribute("data-my-chosen");
  for (const step of steps) rowBy(planId, step)?.removeAttribute("aria-description");
  document.getElementById(planId)?.removeAttribute("data-my-picking");
  chosen = null;
  show();
  if (back) focusStep(planId);
}

/** Show what is chosen. The plan may have changed: what is gone from it is chosen no more. */
function show() {
  const plan = chosen && document.getElementById(chosen.planId);
  for (const each of document.querySelectorAll("[data-do=choose]")) {
    const pressed = String(isPicking(planOf(each)));
    if ((each.getAttribute("aria-pressed") ?? "false") !== pressed) each.setAttribute("aria-pressed", pressed);
  }
  if (!plan) { bar.remove(); return; }
  for (const row of plan.querySelectorAll("[data-my-chosen]")) {
    if (chosen.steps.has(row.dataset.step)) continue;
    row.removeAttribute("data-my-chosen");
    row.removeAttribute("aria-description");
  }
  for (const step of chosen.steps) {
    const row = rowBy(chosen.planId, step);
    row?.setAttribute("data-my-chosen", "");
    row?.setAttribute("aria-description", "selected to be run");
  }
  if (!chosen.steps.size) { bar.remove(); return; }
  run.textContent = `Run ${chosen.steps.size === 1 ? "this step" : `these ${count()}`}`;
  if (!bar.isConnected) document.body.append(bar);
}

/** Ask whether the steps that are chosen are to be run, or this one if there are none. */
export function askToRun(row) {
  if (!chosen?.steps.size) choose(row);
  run.focus();
}

/** Tell the agent to run the steps that are chosen. */
async function runChosen() {
  if (!chosen?.steps.size || run.disabled) return;
  const { planId, address, revision, steps } = chosen;
  const plan = document.getElementById(planId);
  const order = plan ? [...plan.querySelectorAll("[data-step]")].map((row) => row.dataset.step) : [];
  const selected = [...steps].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  const body = (those) => ({ verdict: "approved", selected: those });
  const name = plan ? planName(plan) : "the plan";
  const words = (those) => `run ${those.length} ${those.length === 1 ? "step" : "steps"} of ${name}`;
  const instead = (moved) => {
    const left = selected.filter((step) => !moved.missing.includes(step));
    if (!left.length) return null;
    const label = `Run the ${left.length === 1 ? "one that is" : `${left.length} that are`} left`;
    return { label, body: body(left), words: words(left) };
  };
  run.disabled = true;
  const came = await review(address, body(selected), revision, words(selected), { instead });
  run.disabled = false;
  if (came.done) clear({ back: true });
}

document.addEventListener("click", (event) => {
  const row = rowOf(event.target);
  if (!row || !isPicking(planOf(row)) || event.target.closest("a, button, summary")) return;
  event.preventDefault();
  choose(row);
});
onChanged(show);
