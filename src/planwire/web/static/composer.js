// The composer: a form over the page, beside its step. It is no part of the plan, so the words stay whatever happens to
// the plan. It sends the revision that was on the page when the person began to write.

import { onChanged } from "./page.js";
import { el, focusStep, isWhole, revisionOf, rowBy, rowsOf } from "./plans.js";
import { newest } from "./send.js";

const drafts = new Map();
let current = null;

const isBusy = () => Boolean(current?.form.hasAttribute("aria-busy"));

/** Whether something was written that is not sent. */
export const isWriting = () => Boolean(current && current.area.value !== current.begun.text);

/**
 * Open the form. `submit(text, revision, trouble)` sends what was written, and resolves as `perform` does; `gone` has
 * another `label` and `submit` for when the step is no longer there.
 */
export function compose({ plan, row, kind, title, label, text = "", placeholder, over = false, submit, gone }) {
  const step = row?.dataset.step;
  const key = `${plan.dataset.steer} ${kind} ${step ?? ""}`;
  if (current?.key === key || isBusy()) return current.area.focus();
  close();
  const area = el("textarea", { rows: 1, placeholder, dir: "auto", maxlength: 16_000 });
  area.value = drafts.get(key) ?? text;
  const note = el("p", { class: "composer-note", role: "status" });
  const trouble = el("p", { class: "composer-trouble", role: "alert" });
  const button = el("button", { class: "primary" }, label);
  const leave = el("button", { type: "button", click: () => close({ back: true }) }, "Cancel");
  const lines = kind === "comment" || plan.dataset.multiline !== undefined;
  const hint = el("span", { class: "hint" }, lines ? "Enter saves, Shift+Enter is a new line" : "Enter saves");
  const form = el(
    "form", { class: "composer", "aria-label": title },
    el("label", {}, el("span", { class: "composer-title" }, title), area),
    note, trouble, el("div", { class: "dialog-buttons" }, button, leave, hint),
  );
  current = {
    key, form, area, note, trouble, button, over, submit, gone, label, step,
    planId: plan.id, address: plan.dataset.steer, begun: { text, revision: revisionOf(plan) },
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); save(); });
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); save(); }
    if (event.key === "Escape") { event.stopPropagation(); close({ back: true }); }
  });
  document.body.append(form);
  fit();
  area.focus({ preventScroll: true });
  area.setSelectionRange(area.value.length, area.value.length);
  form.scrollIntoView({ block: "nearest" });
}

async function save() {
  const { area, trouble, form, button, begun, gone, isGone, submit } = current;
  const text = area.value.trim();
  if (!text || isBusy()) return;
  form.setAttribute("aria-busy", "true");
  button.disabled = area.readOnly = true;
  trouble.textContent = "";
  const act = isGone ? gone.submit : submit;
  const came = await act(text, begun.revision, (words) => { trouble.textContent = words; });
  form.removeAttribute("aria-busy");
  button.disabled = area.readOnly = false;
  if (came.edit) begun.revision = came.edit;
  if (came.done) close({ sent: true, back: true });
  else if (came.left) close({ back: true });
  else { check(); area.focus(); }
}

/** Close the form. What was written is kept for the next time, unless it was `sent`; `back` returns the focus. */
export function close({ sent = false, back = false } = {}) {
  if (!current || isBusy()) return;
  const { key, area, begun, form, planId, step } = current;
  if (sent || area.value === begun.text || !area.value.trim()) drafts.delete(key);
  else drafts.set(key, area.value);
  current = null;
  makeRoom(null);
  form.remove();
  if (back) focusStep(planId, step);
}

// ---------------------------------------------------------------- where it stands

let roomy = null;

/** Leave room for the form below the element that it belongs to, or in its place. */
function makeRoom(anchor, height = 0, over = false) {
  if (roomy && roomy !== anchor) {
    roomy.removeAttribute("data-my-room");
    roomy.style.removeProperty("--room");
  }
  roomy = anchor;
  if (!anchor) return;
  anchor.setAttribute("data-my-room", over ? "over" : "below");
  anchor.style.setProperty("--room", `${Math.ceil(height)}px`);
}

function fit() {
  const { area } = current;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
  place();
}

function place() {
  if (!current) return;
  const { form, planId, step, over } = current;
  const plan = document.getElementById(planId);
  const row = step ? rowBy(planId, step) : plan && rowsOf(plan).at(-1);
  const anchor = row ?? plan?.querySelector(".text, .nothing, .steps");
  if (!anchor) return makeRoom(null); // it stays where it was
  const words = anchor.classList.contains("task") && over ? anchor.querySelector(".words") : anchor;
  makeRoom(anchor, form.offsetHeight + (over ? 0 : 8), over);
  const box = words.getBoundingClientRect(), outer = anchor.getBoundingClientRect();
  form.style.width = `${Math.max(outer.width, 260)}px`;
  form.style.left = `${outer.left + scrollX}px`;
  form.style.top = `${(over ? box.top : box.bottom + 4) + scrollY}px`;
}

/** Say what happened to the plan since they began. */
function check() {
  if (!current) return;
  const { planId, step, note, button, begun, address, gone, label } = current;
  const plan = document.querySelector(`#${planId}[data-steer]`);
  current.isGone = Boolean(plan && step && gone && !rowBy(planId, step) && isWhole(plan));
  const moved = plan && revisionOf(plan) > newest(address, begun.revision);
  let words = "";
  if (!plan) words = "This plan is no longer there. What you wrote is kept here as long as you need it.";
  else if (current.isGone) words = "This step is no longer in the plan.";
  else if (moved) words = "The plan has changed since you began. You will see how before anything is written.";
  if (note.textContent !== words) note.textContent = words;
  button.textContent = current.isGone ? gone.label : label;
}

onChanged(() => { check(); place(); });
addEventListener("resize", place);
new ResizeObserver(() => requestAnimationFrame(place)).observe(document.querySelector("main"));
