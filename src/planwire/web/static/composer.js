// The composer: a form over the page, beside its step. It is no part of the plan, so the words stay whatever happens to
// the plan. It sends the revision that was on the page when the person began to write.

import { onChanged } from "./page.js";
import { el, focusRow, isWhole, revisionOf, rowsOf, textOf } from "./plans.js";

const drafts = new Map();
let current = null;

const isBusy = () => Boolean(current?.form.hasAttribute("aria-busy"));

/** Whether something was written that is not sent. */
export const isWriting = () => Boolean(current && current.area.value !== current.begun.text);

/** Let Enter save what is in a text area, and Shift+Enter begin a line; or `lines`: let Ctrl+Enter save. */
export function saveOnEnter(area, save, lines = false) {
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
    if (lines && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    save();
  });
}

export const ENTER_SAVES = "Enter to save, Shift+Enter for a new line";

/** A checkbox that keeps a comment in force. `more()` is what it adds to the request. */
export function keeper() {
  const box = el("input", { type: "checkbox" });
  const line = el("label", { class: "keep", title: "It binds the agent until a person withdraws it" }, box, "Keep in force");
  return { line, more: () => (box.checked ? { keep: true } : {}) };
}

/** A button that sends the same, and has the agent told now. */
export const tellNow = (label, click) => el("button", { type: "button", click }, `${label} and tell now`);

/**
 * Open the form. `submit(text, seen, trouble, more)` sends what was written, and resolves as `perform` does. It stands
 * at the row, or where `at()` says. `keeps`: a person can keep the words in force. `tells`: they can have the agent
 * told now. `comments`: the words outlive their step.
 */
export function compose({ plan, row, kind, title, label, text = "", placeholder, over, at, keeps, tells, comments = keeps, submit }) {
  const rowId = row?.id;
  const key = `${plan.dataset.steer} ${kind} ${rowId ?? ""}`;
  if (current?.key === key || isBusy()) return current.area.focus();
  close();
  const area = el("textarea", { rows: 1, placeholder, dir: "auto", maxlength: 16_000 });
  area.value = drafts.get(key) ?? text;
  const note = el("p", { class: "composer-note", role: "status" });
  const trouble = el("p", { class: "composer-trouble", role: "alert" });
  const button = el("button", { class: "primary" }, label);
  const leave = el("button", { type: "button", click: () => close({ back: true }) }, "Cancel");
  const hint = el("span", { class: "hint" }, ENTER_SAVES);
  const kept = keeps ? keeper() : null;
  const now = tells ? tellNow(label, () => save({ now: true })) : null;
  const form = el(
    "form", { class: "composer", "aria-label": title },
    el("label", {}, el("span", { class: "composer-title" }, title), area),
    note, trouble, el("div", { class: "dialog-buttons" }, button, now, leave, kept?.line, hint),
  );
  const begun = { text, seen: revisionOf(plan), words: row && textOf(row) };
  current = { key, form, area, note, trouble, buttons: [button, now].filter(Boolean), over, at, comments, kept, submit, rowId, planId: plan.id, begun };
  form.addEventListener("submit", (event) => { event.preventDefault(); save(); });
  area.addEventListener("input", fit);
  saveOnEnter(area, () => save());
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) { event.stopPropagation(); close({ back: true }); }
  });
  document.body.append(form);
  fit();
  area.focus({ preventScroll: true });
  area.setSelectionRange(area.value.length, area.value.length);
  form.scrollIntoView({ block: "nearest" });
}

async function save(also = {}) {
  const { area, trouble, form, buttons, begun, kept, submit } = current;
  const text = area.value.trim();
  if (!text || isBusy()) return;
  const setBusy = (is) => {
    for (const each of buttons) each.disabled = is;
    area.readOnly = is;
  };
  form.setAttribute("aria-busy", "true");
  setBusy(true);
  trouble.textContent = "";
  const came = await submit(text, begun.seen, (words) => { trouble.textContent = words; }, { ...kept?.more(), ...also });
  form.removeAttribute("aria-busy");
  setBusy(false);
  if (came.edit) begun.seen = came.edit.revision;
  if (came.done) close({ sent: true, back: true });
  else if (came.left) close({ sent: true, back: true });
  else { check(); area.focus(); }
}

/** Close the form. What was written is kept for the next time, unless it was `sent`; `back` returns the focus. */
export function close({ sent = false, back = false } = {}) {
  if (!current || isBusy()) return;
  const { key, area, begun, form, planId, rowId } = current;
  if (sent || area.value === begun.text || !area.value.trim()) drafts.delete(key);
  else drafts.set(key, area.value);
  current = null;
  makeRoom(null);
  form.remove();
  if (back) focusRow(planId, rowId);
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
  const { form, planId, rowId, over, at } = current;
  const plan = document.getElementById(planId);
  const row = rowId ? document.getElementById(rowId) : at ? at() : plan && rowsOf(plan).at(-1);
  const anchor = row ?? plan?.querySelector(".text, .nothing, .steps");
  if (!anchor) return makeRoom(null); // it stays where it was
  const words = anchor.classList.contains("task") && over ? anchor.querySelector(".words") : anchor;
  makeRoom(anchor, form.offsetHeight + (over ? 0 : 8), Boolean(over));
  const box = words.getBoundingClientRect(), outer = anchor.getBoundingClientRect();
  form.style.width = `${Math.max(outer.width, 260)}px`;
  form.style.left = `${outer.left + scrollX}px`;
  form.style.top = `${(over ? box.top : box.bottom + 4) + scrollY}px`;
}

const TO_THE_PLAN = "This step is gone. Your comment will go to the plan, with the words of the step.";

/** Say what happened to the step since they began. */
function check() {
  if (!current) return;
  const { planId, rowId, note, begun, comments } = current;
  const plan = document.querySelector(`#${planId}[data-steer]`), row = rowId && document.getElementById(rowId);
  let words = "";
  if (!plan) words = "This plan is no longer there. Your text stays here until you close it.";
  else if (rowId && !row && isWhole(plan)) words = comments ? TO_THE_PLAN : "This step is no longer in the plan.";
  else if (row && textOf(row) !== begun.words) words = "This step changed while you were typing.";
  if (note.textContent !== words) note.textContent = words;
}

onChanged(() => { check(); place(); });
addEventListener("resize", place);
new ResizeObserver(() => requestAnimationFrame(place)).observe(document.querySelector("main"));
