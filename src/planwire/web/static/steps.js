// Acts on a step.

import { confirm, perform } from "./acts.js";
import { compose } from "./composer.js";
import { nameOf, offersOf, planName, planOf, revisionOf, short, textOf, writtenIn } from "./plans.js";

/** Changes of a plan as it is shown now. */
export function change(plan, changes, words, more = {}) {
  const { steer: address } = plan.dataset;
  return perform({ address, path: "changes", revision: revisionOf(plan), body: { changes }, words, ...more });
}

/** A word on a plan. */
export const review = (address, body, revision, words, more = {}) =>
  perform({ address, path: "reviews", revision, body, words, ...more });

/** Make the act that withdraws a suggestion. Asks the button now: later it may belong to another suggestion. */
function withdrawal(button) {
  const address = planOf(button).dataset.steer, suggestion = Number(button.dataset.withdraw);
  const words = button.getAttribute("aria-label");
  return (more = {}) => perform({ address, path: "withdrawals", body: { wish: suggestion }, words, ...more });
}

export const withdraw = (button) => withdrawal(button)();

/**
 * The suggestion of one kind for a step, if it is about nothing else. Another one in its place withdraws it, and so does
 * the same one once more.
 */
function suggestionOf(row, kind) {
  const all = [...row.querySelectorAll(`.suggestion-${kind}`)].filter((each) => each.closest("[data-step]") === row);
  const button = all.at(-1)?.querySelector(".take-back");
  if (!button) return null;
  const same = `#${planOf(row).id} :is(.step, .task) [data-withdraw="${button.dataset.withdraw}"]`;
  return document.querySelectorAll(same).length === 1 ? button : null;
}

/** Make the act that withdraws the suggestion of one kind for a step, once another one has taken its place. */
export function replaced(row, kind) {
  const suggestion = suggestionOf(row, kind);
  return suggestion && withdrawal(suggestion);
}

const suggested = (button) => button?.parentElement.dataset.suggested;

/** Withdraw the last suggestion for a step. */
export function takeBack(row) {
  const all = [...row.querySelectorAll(".suggestion > .take-back")].filter((each) => each.closest("[data-step]") === row);
  if (all.length) withdraw(all.at(-1));
}

/** Change one value of a step, or withdraw the suggestion for that. */
async function set(row, kind, value, words) {
  const suggestion = suggestionOf(row, kind), withdrawSuggestion = replaced(row, kind);
  if (suggestion && suggested(suggestion) === value) return void withdrawSuggestion();
  const changes = [{ do: kind, step: row.dataset.step, [kind]: value }];
  const came = await change(planOf(row), changes, `${nameOf(row)} ${words}`, { row });
  if (came.done) withdrawSuggestion?.();
}

export const setStatus = (row, [label, , status]) => set(row, "status", status, label.toLowerCase());
export const tick = (row) => setStatus(row, offersOf(row)[0]);

export const PRIORITIES = ["high", "medium", "low"];
export const hasPriorities = (plan) => plan.dataset.priorities !== undefined;

export function setPriority(row, priority) {
  if (hasPriorities(planOf(row))) set(row, "priority", priority, `${priority} priority`);
}

export async function remove(row) {
  const plan = planOf(row), revision = revisionOf(plan), words = `remove ${nameOf(row)}`;
  const suggestion = suggestionOf(row, "remove");
  if (suggestion) return void withdraw(suggestion);
  if (plan.dataset.suggestion === undefined) {
    const nested = row.querySelector("[data-step]") ? " with all the steps in it" : "";
    if (!(await confirm("Remove this step?", `${nameOf(row)}${nested}. The history keeps it.`, "Remove"))) return;
  }
  await change(plan, [{ do: "remove", step: row.dataset.step }], words, { revision, row });
}

export function reword(row) {
  const plan = planOf(row), address = plan.dataset.steer, { step } = row.dataset;
  const name = nameOf(row), text = textOf(row), suggestion = suggestionOf(row, "reword");
  const withdrawSuggestion = replaced(row, "reword");
  const act = (changes, words) => async (content, revision, trouble) => {
    if (suggestion && content === text) return withdrawSuggestion({ trouble });
    const added = { body: { changes: [{ do: "add", content }] }, words: `add “${short(content)}”` };
    const instead = () => ({ label: "Add it as a new step", ...added });
    const body = { changes: changes(content) };
    const came = await perform({ address, path: "changes", revision, body, words, text: content, trouble, instead });
    if (came.done) withdrawSuggestion?.();
    return came;
  };
  compose({
    plan, row, kind: "reword", over: true, label: "Save",
    text: suggestion ? writtenIn(suggestion.parentElement.querySelector(".suggestion-text")) : text,
    title: plan.dataset.suggestion === undefined ? "Reword this step" : "Wish for other words",
    submit: act((content) => [{ do: "reword", step, content }], `reword ${name}`),
    gone: { label: "Add it as a new step", submit: act((content) => [{ do: "add", content }], "add a step") },
  });
}

/** Add a step behind another one; behind all of them if there is no row. */
export function add(plan, row) {
  const address = plan.dataset.steer, after = row?.dataset.step;
  const act = (place) => (content, revision, trouble) => {
    const instead = () => ({ label: "Add it at the end", body: { changes: [{ do: "add", content }] } });
    const body = { changes: [{ do: "add", content, ...place }] };
    const words = `add “${short(content)}”`;
    return perform({ address, path: "changes", revision, body, words, text: content, trouble, instead });
  };
  compose({
    plan, row, kind: "add", label: "Add", placeholder: "What is to be done?",
    title: plan.dataset.suggestion === undefined ? "Add a step" : "Wish for another step",
    submit: act(after ? { after } : {}),
    gone: { label: "Add it at the end", submit: act({}) },
  });
}

export function comment(row) {
  const plan = planOf(row), address = plan.dataset.steer, { step } = row.dataset;
  const name = nameOf(row), whole = planName(plan);
  const act = (place, words) => (text, revision, trouble) => {
    const body = (place) => ({ verdict: "commented", comments: [{ text, ...place }] });
    const instead = () => ({ label: "Say it of the plan", body: body({}) });
    return review(address, body(place), revision, words, { text, trouble, instead });
  };
  compose({
    plan, row, kind: "comment", label: "Comment", title: `Comment on ${name}`, placeholder: "The agent will read it",
    submit: act({ step }, `comment on ${name}`),
    gone: { label: "Say it of the plan", submit: act({}, `comment on ${whole}`) },
  });
}
