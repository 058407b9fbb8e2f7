// Turns an act and what a person points at into a request, after asking for what the act still needs.
//
// The table of acts says what each of them needs, and the page which acts a plan takes. What an act means is decided by
// the board alone.

import { askToRun, choose } from "./choose.js";
import { compose } from "./composer.js";
import { confirm } from "./dialogs.js";
import { perform } from "./perform.js";
import {
  actsOf, asksFirst, canUndo, lastRemarkOf, nameOf, planName, planOf, revisionOf, rowOf, targetOf, textOf, writtenIn,
} from "./plans.js";
import { bringBack, isReviewing, openReview, pend } from "./review.js";
import { ACTS } from "./table.js";
import { say, toast } from "./toasts.js";
import { commentOnPlan, editAsText } from "./writing.js";

/** Acts on the agent itself, and why they are not possible. */
const UNREACHED = {
  tell: "The agent can't be told now: no relay runs it, or its relay leaves that to the client.",
  stop: "Nothing to stop: the agent is not working, no relay runs it, or its relay leaves that to the client.",
};
const isOfAgent = (plan) => plan.dataset.agent !== undefined;

/** Whether a plan takes an act, on this row if there is one. */
export function takes(plan, name, row) {
  if (row?.dataset.suggestion) return ACTS[name].suggested;
  if (name === "withdraw" && row) return canUndo(planOf(row)) || lastRemarkOf(row) !== undefined;
  return actsOf(plan).includes(name);
}

/** Whether a plan takes an act, on this row if there is one. Says so if it doesn't. */
function admits(plan, name, row) {
  if (takes(plan, name, row)) return true;
  (UNREACHED[name] ? toast : say)(UNREACHED[name] ?? `${ACTS[name].label} is not possible here`);
  return false;
}

/** Select a step to run, or deselect it, if its plan takes a selection. */
export const select = (row) => admits(planOf(row), "select", row) && choose(row);

/** Do an act on a plan, or on a row of it, with the arguments that are `given`. */
export function begin(name, plan, row = null, given = {}) {
  const editor = ACTS[name].file && plan.querySelector("[data-editor]");
  if (editor) return editor.click(); // a plan file is changed there
  if (!admits(plan, name, row)) return;
  const words = `${ACTS[name].label} ${row ? nameOf(row) : planName(plan)}`;
  const on = { plan, row, given, words, address: plan.dataset.steer, seen: revisionOf(plan) };
  const ask = ASKING[name] ?? (ACTS[name].needs.includes("text") && askForText(name));
  const isComplete = ACTS[name].needs.every((need) => need in given);
  if (ask && !(ACTS[name].needs.length && isComplete)) return ask(on);
  return act(name, on);
}

/** Send an act, about the plan as it was on the page when the person began. */
function act(name, { row, given, words, address, seen }, more = {}) {
  const target = row && ACTS[name].on !== "plan" ? { target: targetOf(row) } : {};
  const body = { act: name, seen, ...target, ...given };
  return perform({ address, body, words, row, ...more });
}

const ASKING = {
  reword: (on) => {
    const suggested = on.row.querySelector(".suggestion-text");
    const own = suggested && rowOf(suggested) === on.row ? suggested : null;
    const title = isOfAgent(on.plan) ? "Suggest new wording" : "Reword step";
    write("reword", on, { title, label: "Save", over: true, text: own ? writtenIn(own) : textOf(on.row) });
  },
  add: (on) => {
    const { row, given } = on;
    const place = row && given.after === undefined ? { after: row.dataset.step ?? row.dataset.after } : {};
    const title = isOfAgent(on.plan) ? "Suggest a step" : "Add a step";
    const step = { ...on, words: ACTS.add.label, given: { ...given, ...place } };
    write("add", step, { title, label: "Add", placeholder: "What needs to be done?" });
  },
  comment: (on) => {
    if (!on.row) return isReviewing(on.plan) ? openReview(on.plan) : commentOnPlan(on.plan);
    const title = on.words.replace(" ", " on ");
    if (isReviewing(on.plan)) return pend(on.plan, { step: on.row.dataset.step, name: nameOf(on.row) }, on.row);
    write("comment", on, { title, label: "Comment", placeholder: "The agent will read it", keeps: true, tells: takes(on.plan, "tell") });
  },
  review: ({ plan }) => openReview(plan),
  select: ({ row }) => askToRun(row),
  suggest: ({ plan }) => editAsText(plan, toast),
  withdraw: async ({ row, ...on }) => {
    const isUndo = !on.given.target && canUndo(on.plan), button = on.plan.querySelector("[data-pending] [data-send]");
    if (isUndo && button) return button.click();
    const target = on.given.target ?? (row && !isUndo ? lastRemarkOf(row) : undefined);
    const came = await act("withdraw", { ...on, row: null, given: { target } });
    if (isUndo && came.done) bringBack(on.plan);
  },
  reopen: ({ row, ...on }) => {
    const last = on.plan.querySelector("[data-act=reopen][data-target]")?.dataset.target;
    const target = on.given.target ?? (on.plan.dataset.ended === undefined ? last : undefined);
    return act("reopen", { ...on, row: null, given: { target } });
  },
  remove: async (on) => {
    const nested = on.row.querySelector("[data-step]") ? ", with all steps in it" : "";
    const words = `${nameOf(on.row)}${nested}. The history keeps it.`;
    return (await isSure(on, "remove", "Remove this step?", words)) && act("remove", on);
  },
  dismiss: async (on) => {
    const words = `${planName(on.plan)} disappears from every list. Its history stays.`;
    return (await isSure(on, "dismiss", "Dismiss this plan?", words)) && act("dismiss", on);
  },
};

/** Whether a person wants an act that can't be undone. */
const isSure = async ({ plan }, name, question, words) =>
  !asksFirst(plan, name) || confirm(question, words, ACTS[name].label);

/** Set another way to ask for what an act needs. */
export const askWith = (name, ask) => { ASKING[name] = ask; };

/** Ask for the text of an act in the composer. */
function write(name, on, { text, ...how }) {
  const submit = (text, seen, trouble, more) =>
    act(name, { ...on, given: { ...on.given, ...more, text, seen } }, { text, trouble });
  compose({ plan: on.plan, row: on.row, kind: name, text, ...how, submit });
}

const askForText = (name) => (on) => write(name, on, { title: on.words, label: ACTS[name].label });
