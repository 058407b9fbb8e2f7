// Reviews of a plan as a whole.

import { open } from "./dialogs.js";
import { el, planName, revisionOf } from "./plans.js";
import { review } from "./steps.js";

const verdicts = {
  approved: { label: "Approve", words: "approve" },
  changes_requested: { label: "Ask for changes", words: "ask for changes to" },
  commented: { label: "Comment", words: "comment on" },
};
const kinds = {
  review: { title: "Review", asks: "What do you think of it?", offers: ["approved", "changes_requested", "commented"] },
  "approve-with": { title: "Approve", asks: "Anything that the agent should know?", offers: ["approved"] },
  ask: { title: "Ask for changes to", asks: "What should be different?", offers: ["changes_requested"] },
  comment: { title: "Comment on", asks: "The agent will read it.", offers: ["commented"] },
};
const drafts = new Map();
let writing = null;

/** Whether something was written in a dialog that is open. */
export const isReviewing = () => Boolean(writing?.value.trim());

/** Approve a plan as it is shown, without a word. */
export const approve = (plan) =>
  review(plan.dataset.steer, { verdict: "approved" }, revisionOf(plan), `approve ${planName(plan)}`);

/** Open the dialog in which something is said. The revision that is shown now is the one that is meant. */
export function reviewWith(plan, kind) {
  const { title, asks, offers } = kinds[kind];
  const address = plan.dataset.steer, name = planName(plan), key = `${address} ${kind}`;
  let revision = revisionOf(plan), sent = false;
  const area = el("textarea", { rows: 4, dir: "auto", maxlength: 16_000 });
  area.value = drafts.get(key) ?? "";
  const trouble = el("p", { class: "composer-trouble", role: "alert" });
  const leave = el("button", { type: "button", click: () => close() }, "Cancel");
  const offer = (verdict) => el("button", { type: "button", click: () => send(verdict) }, verdicts[verdict].label);
  const buttons = offers.map(offer);
  buttons[0].className = "primary";
  const form = el(
    "form", {},
    el("label", {}, el("span", {}, asks), area),
    trouble,
    el("div", { class: "dialog-buttons" }, ...buttons, leave, el("span", { class: "hint" }, "Ctrl+Enter sends")),
  );
  writing = area;
  const { dialog, close } = open(`${title} ${name}`, false, [form], () => {
    writing = null;
    if (sent) drafts.delete(key);
    else drafts.set(key, area.value);
  });
  dialog.addEventListener("cancel", (event) => { if (form.hasAttribute("aria-busy")) event.preventDefault(); });

  function busy(is) {
    form.toggleAttribute("aria-busy", is);
    if (is) form.setAttribute("aria-busy", "true");
    for (const button of [...buttons, leave]) button.disabled = is;
    area.readOnly = is;
  }

  async function send(verdict) {
    const text = area.value.trim();
    if (form.hasAttribute("aria-busy")) return;
    if (!text && verdict === "commented") { area.focus(); return; }
    busy(true);
    trouble.textContent = "";
    const body = text ? { verdict, comments: [{ text }] } : { verdict };
    const say = (words) => { trouble.textContent = words; };
    const words = `${verdicts[verdict].words} ${name}`;
    const came = await review(address, body, revision, words, { text: text || undefined, trouble: say });
    busy(false);
    if (came.edit) revision = came.edit;
    sent = Boolean(came.done);
    if (came.done || came.left) close();
    else area.focus();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    send(offers[0]);
  });
  area.focus();
}
