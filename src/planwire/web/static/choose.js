// The steps selected to run, of the plan as it was when the person selected the first of them.

import { onChanged } from "./page.js";
import { perform } from "./perform.js";
import { el, focusRow, isFinished, isWhole, nameOf, planName, planOf, revisionOf, rowBy, rowOf } from "./plans.js";
import { say } from "./toasts.js";

let chosen = null; // { planId, address, revision, steps }

const run = el("button", { type: "button", class: "primary", click: () => runChosen() });
const hint = el("span", { class: "hint" });
const bar = el(
  "div", { class: "run-bar", role: "region", "aria-label": "Steps to run" },
  run, el("button", { type: "button", click: () => clear({ back: true }) }, "Cancel"), hint,
);

/** Select a step to run, or deselect it. One that is finished can't be run. */
export function choose(row) {
  if (isFinished(row)) return say(`${nameOf(row)} is finished: it can't be run`);
  const plan = planOf(row), { step } = row.dataset;
  if (chosen?.planId !== plan.id) {
    clear();
    chosen = { planId: plan.id, address: plan.dataset.steer, revision: revisionOf(plan), steps: new Set() };
  }
  if (!chosen.steps.delete(step)) chosen.steps.add(step);
  say(`${nameOf(row)} ${chosen.steps.has(step) ? "selected" : "not selected"}, ${count()} in all`);
  show();
}

/** Let a click anywhere on a step select it, or stop that. */
export function pick(plan) {
  const on = plan.toggleAttribute("data-my-picking");
  if (!on && chosen?.planId === plan.id) clear();
  say(on ? "Select the steps to run" : "No steps are selected");
  show();
}

export const isPicking = (plan) => plan.hasAttribute("data-my-picking");

/** Whether all open steps are selected. */
function isAll(plan) {
  const open = [...plan.querySelectorAll("[data-step]")].filter((row) => !isFinished(row));
  return isWhole(plan) && open.length > 1 && open.every((row) => chosen.steps.has(row.dataset.step));
}

const count = () => `${chosen.steps.size} ${chosen.steps.size === 1 ? "step" : "steps"}`;

export function clear({ back = false } = {}) {
  if (!chosen) return;
  const { planId, steps } = chosen;
  for (const step of steps) rowBy(planId, step)?.removeAttribute("data-my-chosen");
  for (const step of steps) rowBy(planId, step)?.removeAttribute("aria-description");
  document.getElementById(planId)?.removeAttribute("data-my-picking");
  chosen = null;
  show();
  if (back) focusRow(planId);
}

/** Show what is selected. The plan may have changed: steps that are finished by now are deselected. */
function show() {
  const plan = chosen && document.getElementById(chosen.planId);
  for (const each of document.querySelectorAll("[data-act=select]")) {
    const pressed = String(isPicking(planOf(each)));
    if ((each.getAttribute("aria-pressed") ?? "false") !== pressed) each.setAttribute("aria-pressed", pressed);
  }
  if (!plan) { bar.remove(); return; }
  for (const row of plan.querySelectorAll("[data-my-chosen]")) {
    if (chosen.steps.has(row.dataset.step)) continue;
    row.removeAttribute("data-my-chosen");
    row.removeAttribute("aria-description");
  }
  for (const step of [...chosen.steps]) {
    const row = rowBy(chosen.planId, step);
    if (row && isFinished(row)) { chosen.steps.delete(step); row.removeAttribute("data-my-chosen"); continue; }
    row?.setAttribute("data-my-chosen", "");
    row?.setAttribute("aria-description", "selected to run");
  }
  if (!chosen.steps.size) { bar.remove(); return; }
  const all = isAll(plan);
  run.textContent = `Tell the agent to run ${all ? "all steps" : count()}`;
  hint.textContent = all ? "" : "It will run no others for now.";
  if (!bar.isConnected) document.body.append(bar);
}

/** Ask whether to run the selected steps, or this one if there are none. */
export function askToRun(row) {
  if (!chosen?.steps.size) choose(row);
  run.focus();
}

/** Tell the agent to run the selected steps. */
async function runChosen() {
  if (!chosen?.steps.size || run.disabled) return;
  const { planId, address, revision, steps } = chosen;
  const plan = document.getElementById(planId);
  run.disabled = true;
  const body = { act: "select", steps: [...steps], seen: revision };
  const came = await perform({ address, body, words: `Run ${count()} of ${plan ? planName(plan) : "the plan"}` });
  run.disabled = false;
  if (came.done) clear({ back: true });
}

document.addEventListener("click", (event) => {
  const row = rowOf(event.target);
  if (!row?.dataset.step || !isPicking(planOf(row)) || event.target.closest("a, button, summary")) return;
  event.preventDefault();
  choose(row);
});
onChanged(show);
