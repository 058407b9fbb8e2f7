// Dialogs with a text: a comment on a plan, its steps as a text, and the text of a proposal.

import { ENTER_SAVES, keeper, saveOnEnter, tellNow } from "./composer.js";
import { open } from "./dialogs.js";
import { perform } from "./perform.js";
import { actsOf, el, planName, revisionOf } from "./plans.js";
import { ACTS, VERDICTS } from "./table.js";

const drafts = new Map();
let writing = null; // the open text, and the text that it began with

/** Whether something was written in a dialog that is open. */
export const isInDialog = () => Boolean(writing && writing.area.value.trim() !== writing.begun);

/**
 * Open a dialog with a text area. `submit(text, trouble)` sends it, and resolves as `perform` does; after a conflict,
 * `again(answer)` gives the text to go on with. `lines`: it is a text of many lines. `tells`: the agent can be told now.
 */
function write({ key, title, label, save, tells, text = "", field, lines = false, hint = ENTER_SAVES, submit, again }) {
  let sent = false;
  const area = el("textarea", { rows: lines ? 14 : 4, dir: "auto", maxlength: lines ? null : 16_000, spellcheck: !lines });
  area.value = drafts.get(key) ?? text;
  const trouble = el("p", { class: "composer-trouble", role: "alert" });
  const leave = el("button", { type: "button", click: () => close() }, "Cancel");
  const now = tells ? tellNow(save.textContent, () => go({ now: true })) : null;
  const form = el(
    "form", { class: lines ? "in-lines" : null },
    el("label", {}, el("span", {}, label), area),
    field ?? null, trouble,
    el("div", { class: "dialog-buttons" }, save, now, leave, el("span", { class: "hint" }, hint)),
  );
  writing = { area, begun: text.trim() };
  const { dialog, close } = open(title, lines, [form], () => {
    writing = null;
    if (sent || area.value === text) drafts.delete(key);
    else drafts.set(key, area.value);
  });
  dialog.addEventListener("cancel", (event) => { if (form.hasAttribute("aria-busy")) event.preventDefault(); });

  async function go(also = {}) {
    if (form.hasAttribute("aria-busy")) return;
    busy(true);
    trouble.textContent = "";
    const came = await submit(area.value.trim(), (words) => { trouble.textContent = words; }, also);
    busy(false);
    if (came.edit) area.value = again?.(came.edit) ?? area.value;
    sent = Boolean(came.done || came.left);
    if (sent) close();
    else area.focus();
  }

  function busy(is) {
    if (is) form.setAttribute("aria-busy", "true");
    else form.removeAttribute("aria-busy");
    for (const button of [save, now, leave].filter(Boolean)) button.disabled = is;
    area.readOnly = is;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  saveOnEnter(area, () => go(), lines);
  area.focus();
}

/** Comment on a plan as a whole. */
export function commentOnPlan(plan) {
  const address = plan.dataset.steer, seen = revisionOf(plan), title = `${ACTS.comment.label} on ${planName(plan)}`;
  const { line, more } = keeper();
  write({
    key: `${address} comment`, title, label: "The agent will read it.",
    save: el("button", { class: "primary" }, ACTS.comment.label), field: line,
    tells: actsOf(plan).includes("tell"),
    submit: (text, trouble, also) =>
      perform({ address, body: { act: "comment", seen, text, ...more(), ...also }, words: title, text, trouble }),
  });
}

/** Change all steps of a plan as a text. */
export async function editAsText(plan, sayTrouble) {
  const address = plan.dataset.steer, title = `Edit ${planName(plan)}`;
  const answer = await fetch(`${address}/text`).catch(() => null);
  if (!answer?.ok) return sayTrouble("Couldn't load the text of the plan. Try again.");
  let seen = Number(answer.headers.get("planwire-revision"));
  write({
    key: `${address} text ${seen}`, title, lines: true, text: await answer.text(),
    label: "One step per line: [ ] to do, [~] in progress, [x] done, [-] cancelled. A line without {id} is a new step.",
    hint: "Ctrl+Enter to save", save: el("button", { class: "primary" }, "Save"),
    submit: (text, trouble) =>
      perform({ address, body: { act: "suggest", seen, plan_text: text }, words: title, text, trouble }),
    again: ({ revision, text }) => { seen = revision; return text; },
  });
}

/** Let a person edit the text of a plan. `submit(text, seen, trouble)` sends it, and resolves as `perform` does. */
export function editPlan({ key, title, text, seen, submit }) {
  write({
    key: `${key} plan`, title, lines: true, text, label: "The agent goes on with this text.",
    hint: "Ctrl+Enter to approve", save: el("button", { class: "primary" }, VERDICTS.approved),
    submit: (edited, trouble) => submit(edited, seen, trouble),
    again: ({ revision }) => { seen = revision; },
  });
}
