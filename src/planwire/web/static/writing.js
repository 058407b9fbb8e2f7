// Dialogs with a text: a comment on a plan, its steps as a text, and the text of a proposal.

import { ENTER_SAVES, keeper, saveOnEnter, tellNow } from "./composer.js";
import { open } from "./dialogs.js";
import { perform } from "./perform.js";
import { actsOf, el, planName, revisionOf } from "./plans.js";
import { ACTS, VERDICTS } from "./table.js";

const drafts = new Map(); // what was written and not sent, with the text and the revision that it began with
let writing = null; // the open text, and the text that it began with

/** Whether something was written in a dialog that is open. */
export const isInDialog = () => Boolean(writing && writing.area.value.trim() !== writing.begun);

/**
 * Open a dialog with a text area. `submit(text, seen, trouble)` sends it, and resolves as `perform` does. What was kept
 * is sent with the revision that it was made from, so that conflicts are found; after a conflict, with that of the
 * answer. `lines`: it is a text of many lines. `tells`: the agent can be told now.
 */
function write({ key, title, label, save, tells, text = "", seen, field, lines = false, hint = ENTER_SAVES, submit }) {
  const draft = drafts.get(key) ?? { written: text, text, seen };
  let sent = false;
  const area = el("textarea", { rows: lines ? 14 : 4, dir: "auto", maxlength: lines ? null : 16_000, spellcheck: !lines });
  area.value = draft.written;
  const trouble = el("p", { class: "composer-trouble", role: "alert" });
  const leave = el("button", { type: "button", click: () => close() }, "Cancel");
  const now = tells ? tellNow(save.textContent, () => go({ now: true })) : null;
  const form = el(
    "form", { class: lines ? "in-lines" : null },
    el("label", {}, el("span", {}, label), area),
    field ?? null, trouble,
    el("div", { class: "dialog-buttons" }, save, now, leave, el("span", { class: "hint" }, hint)),
  );
  writing = { area, begun: draft.text.trim() };
  const { dialog, close } = open(title, lines, [form], () => {
    writing = null;
    if (sent || area.value === draft.text) drafts.delete(key);
    else drafts.set(key, { ...draft, written: area.value });
  });
  dialog.addEventListener("cancel", (event) => { if (form.hasAttribute("aria-busy")) event.preventDefault(); });

  async function go(also = {}) {
    if (form.hasAttribute("aria-busy")) return;
    busy(true);
    trouble.textContent = "";
    const came = await submit(area.value.trim(), draft.seen, (words) => { trouble.textContent = words; }, also);
    busy(false);
    if (came.edit) {
      draft.seen = came.edit.revision;
      area.value = came.edit.text ?? area.value;
    }
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
  const address = plan.dataset.steer, title = `${ACTS.comment.label} on ${planName(plan)}`;
  const { line, more } = keeper();
  write({
    key: `${address} comment`, title, label: "The agent will read it.",
    save: el("button", { class: "primary" }, ACTS.comment.label), field: line,
    seen: revisionOf(plan), tells: actsOf(plan).includes("tell"),
    submit: (text, seen, trouble, also) =>
      perform({ address, body: { act: "comment", seen, text, ...more(), ...also }, words: title, text, trouble }),
  });
}

/** Change all steps of a plan as a text. */
export async function editAsText(plan, sayTrouble) {
  const address = plan.dataset.steer, title = `Edit ${planName(plan)}`;
  const answer = await fetch(`${address}/text`).catch(() => null);
  if (!answer?.ok) return sayTrouble("Couldn't load the text of the plan. Try again.");
  write({
    key: `${address} text`, title, lines: true,
    text: await answer.text(), seen: Number(answer.headers.get("planwire-revision")),
    label: "One step per line: [ ] to do, [~] in progress, [x] done, [-] cancelled. A line without {id} is a new step.",
    hint: "Ctrl+Enter to save", save: el("button", { class: "primary" }, "Save"),
    submit: (text, seen, trouble) =>
      perform({ address, body: { act: "suggest", seen, plan_text: text }, words: title, text, trouble }),
  });
}

/** Let a person edit the text of a plan. `submit(text, seen, trouble)` sends it, and resolves as `perform` does. */
export function editPlan({ key, title, text, seen, submit }) {
  write({
    key: `${key} plan`, title, lines: true, text, seen, label: "The agent goes on with this text.",
    hint: "Ctrl+Enter to approve", save: el("button", { class: "primary" }, VERDICTS.approved), submit,
  });
}
