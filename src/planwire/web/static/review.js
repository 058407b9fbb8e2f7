// A review: comments on steps and on selected text are collected at their places, and sent once, with a verdict.
//
// What is pending outlives changes of the plan and a reload of the page. The review is about the plan as it was when
// the person began it.

import { answerOf, sendWithAnswers } from "./answer.js";
import { compose, saveOnEnter } from "./composer.js";
import { confirm } from "./dialogs.js";
import { onChanged } from "./page.js";
import { blockOf, paint, rangesOf } from "./passages.js";
import { perform } from "./perform.js";
import { decides, el, focusOn, focusRow, person, planName, revisionOf, rowBy } from "./plans.js";
import { VERDICTS } from "./table.js";
import { countUnseen, onSeen, unseenWords } from "./unseen.js";

const [APPROVE, , COMMENT_ONLY] = Object.keys(VERDICTS);
const keyOf = (address) => `planwire review ${person}${address}`;
const nodes = new Map(); // the pending comments on the page
const undoable = new Map(); // the last review of each plan that was sent, by its address

/** The review of a plan that a person has begun: { seen, text, comments }; null if there is none. */
const reviewOf = (plan) => JSON.parse(sessionStorage.getItem(keyOf(plan.dataset.steer)));

function keep(plan, review) {
  const key = keyOf(plan.dataset.steer);
  if (review) sessionStorage.setItem(key, JSON.stringify(review));
  else sessionStorage.removeItem(key);
  showReviews();
}

const begun = (plan) => reviewOf(plan) ?? { seen: revisionOf(plan), text: "", comments: [] };

export const isReviewing = (plan) => reviewOf(plan) !== null;

// ---------------------------------------------------------------- comments

/** Write a comment that is sent with the review. `place` has its step or its passage, and a name for people. */
export function pend(plan, place, row = null, old = null) {
  const inText = () => rangesOf(plan, [place.passage])[0];
  compose({
    plan, row, kind: `review ${old?.id ?? JSON.stringify(place.passage) ?? ""}`, title: `Comment on ${place.name}`, text: old?.text,
    label: old ? "Save" : "Add to review", placeholder: "Sent with your review", comments: true,
    at: row ? null : () => { const range = inText(); return range && blockOf(range); },
    submit: async (text) => {
      const review = begun(plan), comment = { ...place, text, id: old?.id ?? `${Date.now()}` };
      const others = review.comments.filter(({ id }) => id !== comment.id);
      current = plan.dataset.steer;
      keep(plan, { ...review, comments: [...others, comment] });
      return { done: true };
    },
  });
}

function drop(plan, comment) {
  const review = reviewOf(plan), comments = review.comments.filter(({ id }) => id !== comment.id);
  keep(plan, comments.length || review.text ? { ...review, comments } : null);
  focusRow(plan.id);
}

function drawn(plan, comment) {
  const { id, step, text, name } = comment, row = () => (step ? rowBy(plan.id, step) : null);
  const button = (label, click) => el("button", { type: "button", class: "on-remark", "aria-label": `${label}: ${text}`, click }, label);
  const node = el(
    "div", { class: "draft", "data-my-guest": true, id: `draft-${id}` },
    el("q", { class: "quoted", dir: "auto" }, name), el("span", { class: "said", dir: "auto" }, text), " ",
    el("span", { class: "origin" }, el("span", { class: "delivery" }, "Pending"),
      button("Edit", () => pend(plan, { step, passage: comment.passage, name }, row(), comment)),
      button("Discard", () => drop(plan, comment))),
  );
  node.dataset.of = JSON.stringify(comment);
  return node;
}

/** Put a pending comment where it belongs: at its step, below its passage, or below the plan if that is gone. */
function put(plan, comment, range) {
  const known = nodes.get(comment.id), isSame = known?.dataset.of === JSON.stringify(comment);
  const node = isSame ? known : drawn(plan, comment);
  if (!isSame) known?.remove();
  nodes.set(comment.id, node);
  const row = comment.step ? rowBy(plan.id, comment.step) : null;
  const block = row ?? (range && blockOf(range));
  const isInside = block?.matches("li"), around = isInside ? block : block?.parentElement ?? plan;
  const end = ":scope > :is(ul, ol, .toolbar)", below = `#${plan.id}-steer`;
  let next = isInside ? block.querySelector(end) : block ? block.nextSibling : plan.querySelector(below);
  if (next === node) next = node.nextSibling;
  node.toggleAttribute("data-placed", Boolean(block));
  if (node.parentElement === around && node.nextSibling === next) return;
  const hadFocus = node.contains(document.activeElement);
  (next?.parentElement ?? around).insertBefore(node, next);
  if (hadFocus) node.querySelector("button").focus({ preventScroll: true });
}

// ---------------------------------------------------------------- the bar

let current = null; // the address of the plan that the bar is for

const title = el("h2", { id: "review-title" });
const area = el("textarea", { rows: 1, dir: "auto", placeholder: "Comment (optional)", "aria-label": "Comment (optional)" });
const trouble = el("p", { class: "composer-trouble", role: "alert" });
const unseen = el("span", { class: "count-unseen" }); // on the button that approves
const verdicts = Object.entries(VERDICTS).filter(([value]) => decides || value !== APPROVE).map(([value, label]) =>
  el("button", { type: "button", class: value === COMMENT_ONLY ? "primary" : null, click: () => decide(planNow(), value) }, el("span", {}, label, value === APPROVE ? unseen : null)));
const bar = el(
  "form", { class: "review-bar", role: "region", "aria-labelledby": title.id },
  title, area, trouble,
  el("div", { class: "dialog-buttons" }, ...verdicts, el("button", { type: "button", class: "quiet", click: () => discard() }, "Discard")),
);

const planAt = (address) => [...document.querySelectorAll("[data-steer]")].find((each) => each.dataset.steer === address);
const planNow = () => planAt(current);

/** Open the bar for a plan. One that an agent asks about has a bar of its own, with the agent's answers. */
export function openReview(plan) {
  if (answerOf(plan)) return answerOf(plan).querySelector("textarea").focus();
  current = plan.dataset.steer;
  keep(plan, begun(plan));
  area.focus();
}

/** Give a verdict, with all that is pending. */
async function decide(plan, verdict) {
  if (bar.hasAttribute("aria-busy")) return;
  const review = begun(plan), address = plan.dataset.steer, text = review.text.trim(), comments = sentOf(review);
  const body = {
    act: "review", verdict, seen: review.seen, ...(text ? { text } : {}), ...(comments.length ? { comments } : {}),
  };
  busy(true);
  const isOpen = bar.isConnected && current === address;
  const came = await perform({
    address, body, words: `${VERDICTS[verdict]} ${planName(plan)}`, text: text || undefined,
    ...(isOpen ? { trouble: (words) => { trouble.textContent = words; } } : {}),
  });
  busy(false);
  if (came.edit) keep(plan, { ...review, seen: came.edit.revision });
  if (came.done) undoable.set(address, review);
  if (came.done) close(plan);
  else if (isOpen) area.focus();
}

const sentOf = ({ comments }) => comments.map(({ text, step, passage }) => ({ text, step, passage }));

/** What is pending goes with the answer to the agent's question, too. */
sendWithAnswers({
  of: (form) => {
    const plan = planAt(form.dataset.answer), review = plan && reviewOf(plan);
    return review?.comments.length ? { seen: review.seen, comments: sentOf(review) } : {};
  },
  sent: (form) => {
    const plan = planAt(form.dataset.answer);
    if (!plan) return;
    undoable.set(form.dataset.answer, reviewOf(plan));
    keep(plan, null);
  },
  back: (form) => { const plan = planAt(form.dataset.answer); if (plan) bringBack(plan); },
});

/** Give the person back what went with a verdict that they have undone. */
export function bringBack(plan) {
  const address = plan.dataset.steer, review = undoable.get(address);
  undoable.delete(address);
  if (review && !reviewOf(plan)) keep(plan, review);
}

function busy(is) {
  if (is) trouble.textContent = "";
  if (is) bar.setAttribute("aria-busy", "true");
  else bar.removeAttribute("aria-busy");
  area.readOnly = is;
  for (const each of verdicts) each.disabled = is;
}

function close(plan) {
  const hadFocus = bar.contains(document.activeElement) || document.activeElement === document.body;
  keep(plan, null);
  if (hadFocus) focusBack(plan);
}

let before = null; // what had the focus before the bar

function focusBack(plan) {
  if (before?.isConnected && before.checkVisibility()) focusOn(before);
  else focusRow(plan.id);
}

async function discard() {
  const plan = planNow(), review = reviewOf(plan), count = review.comments.length + (review.text.trim() ? 1 : 0);
  if (count && !(await confirm("Discard this review?", `${counted(count)} will be lost.`, "Discard"))) return;
  close(plan);
}

const counted = (count) => `${count} ${count === 1 ? "comment" : "comments"}`;

function sayUnseen() {
  if (planNow()) unseen.textContent = unseenWords(countUnseen(planNow()));
}

function showBar(plan) {
  if (!plan) { trouble.textContent = ""; return bar.remove(); }
  const review = reviewOf(plan), count = review.comments.length;
  title.textContent = `Review ${planName(plan)}${count ? ` · ${counted(count)} pending` : ""}`;
  if (area.value !== review.text) area.value = review.text;
    if (!bar.isConnected) document.body.append(bar);
  sayUnseen();
}

/** Say in the agent's bar how many comments go along. */
function showPending(plan) {
  const line = answerOf(plan)?.querySelector(".pending-words"), count = reviewOf(plan)?.comments.length ?? 0;
  const words = count ? `${counted(count)} pending` : "";
  if (line && line.textContent !== words) line.textContent = words;
}

/** Show what is pending, and which passages people commented on. */
function showReviews() {
  const plans = [...document.querySelectorAll("[data-steer]")], pending = [], remarked = [], shown = new Set();
  for (const plan of plans) {
    const comments = reviewOf(plan)?.comments ?? [];
    const ranges = rangesOf(plan, comments.map(({ passage }) => passage));
    comments.forEach((comment, at) => { put(plan, comment, ranges[at]); shown.add(comment.id); });
    pending.push(...ranges);
    remarked.push(...rangesOf(plan, [...plan.querySelectorAll(".remark[data-passage]")].map(({ dataset }) => JSON.parse(dataset.passage))));
  }
  for (const [id, node] of nodes) if (!shown.has(id)) { node.remove(); nodes.delete(id); }
  paint("draft", pending);
  paint("remark", remarked);
  for (const plan of plans) showPending(plan);
  const hasBar = (plan) => isReviewing(plan) && !answerOf(plan);
  if (!planNow() || !hasBar(planNow())) current = plans.find(hasBar)?.dataset.steer ?? null;
  showBar(planNow());
}

export function startReview() {
  area.addEventListener("input", () => keep(planNow(), { ...reviewOf(planNow()), text: area.value }));
  saveOnEnter(area, () => decide(planNow(), COMMENT_ONLY));
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.addEventListener("focusin", (event) => { if (!bar.contains(event.relatedTarget)) before = event.relatedTarget ?? before; });
  bar.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.stopPropagation();
    const { text, comments } = reviewOf(planNow());
    if (text.trim() || comments.length) focusBack(planNow());
    else close(planNow());
  });
  onChanged(showReviews);
  onSeen(sayUnseen);
  showReviews();
}
