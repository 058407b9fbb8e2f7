// Plans and their steps, as they stand on the page.

import { FINISHED, OFFERS } from "./table.js";

export const ROW = ":is([data-step], [data-suggestion])";

export const planOf = (node) => node?.closest?.("[data-steer]") ?? null;
/** The rows of a plan that are in sight: steps, and steps that are suggested. */
export const rowsOf = (plan) => [...plan.querySelectorAll(ROW)].filter((row) => row.checkVisibility());
export const rowBy = (planId, step) => document.getElementById(`${planId}-${step}`);
const now = (plan) => document.getElementById(`${plan.id}-at`).dataset;
export const revisionOf = (plan) => Number(now(plan).revision);
const barred = (document.body.dataset.mayNot ?? "").split(" ");
/** The names of the acts that a plan takes, of those that are for this person. */
export const actsOf = (plan) => now(plan).acts.split(" ").filter((name) => !barred.includes(name));
/** The name of the person who is signed in; "" on a personal board. Unsent words are theirs, and nobody else's. */
export const person = document.body.dataset.person ?? "";
/** Whether this person decides: on a team's board, not everybody does. */
export const decides = (document.body.dataset.role ?? "approve") === "approve";
/** Whether a person is asked before an act, because there is no way back. */
export const asksFirst = (plan, name) => plan.dataset.asks.split(" ").includes(name);
export const planName = (plan) => named(plan.querySelector("h2").textContent);

/** The row that something is in, of a plan that people can steer. */
export function rowOf(node) {
  const row = node?.closest?.(ROW) ?? null;
  return row && planOf(row) ? row : null;
}

/** The id by which an act names a row: that of the step, or of the suggestion. */
export const targetOf = (row) => row.dataset.step ?? row.dataset.suggestion;

/** Whether this person can still undo a verdict on a plan. */
export const canUndo = (plan) => {
  const by = plan.querySelector("[data-pending]")?.dataset.pending;
  return by !== undefined && (!person || by === person);
};

/** The open remark on a row that was made last; undefined if there is none. */
export function lastRemarkOf(row) {
  const own = [...row.querySelectorAll("[data-act=withdraw]")].filter((each) => each.closest("li") === row);
  return own.map((each) => each.dataset.target).sort((a, b) => a.slice(1) - b.slice(1)).at(-1);
}

/** Whether a step is over: it is not run again. */
export const isFinished = (row) => FINISHED.includes(row.dataset.status);

/** The statuses to offer for a step, the tick first. */
export const offersOf = (row) => OFFERS[row.dataset.status];

/** Whether the page has all steps of a plan. */
export const isWhole = (plan) => !plan.querySelector(":scope .gap");

/** Give the focus to an element, even one that can't have it by itself. */
export function focusOn(node) {
  if (!node.hasAttribute("tabindex") && node.tabIndex < 0) node.tabIndex = -1;
  node.focus({ preventScroll: true });
}

/** Give the focus to a row, or to its plan if the row is not there. */
export function focusRow(planId, rowId) {
  const plan = document.getElementById(planId);
  if (plan) focusOn((rowId && document.getElementById(rowId)) || plan.querySelector("h2"));
}

/** Words as they were written: what is shown as code was written between backticks. */
export function writtenIn(node) {
  const written = (each) => (each.nodeName === "CODE" ? `\`${each.textContent}\`` : each.textContent);
  return [...node.childNodes].map(written).join("");
}

/** The words of a step as they were written. */
export const textOf = (row) => row.dataset.text ?? writtenIn(row.querySelector(".words"));

function short(text, most = 60) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** A text as a name within a sentence. */
export const named = (text) => `“${short(text)}”`;
export const nameOf = (row) => named(textOf(row));

/** An element with its attributes and children. Texts become text, never HTML. */
export function el(tag, values = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
