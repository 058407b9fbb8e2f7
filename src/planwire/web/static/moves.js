// Moves of a step by its grip. A line shows the new place; the request goes out when the person lets go.

import { begin } from "./doing.js";
import { el, planOf, rowBy, rowsOf } from "./plans.js";
import { say } from "./toasts.js";

const line = el("div", { class: "drop-line" });
let moving = null; // { planId, step, place, pointer }

/** Every place in sight that a step can go to, from the top: before the first step of each list, and after each one. */
function placesOf(plan, row) {
  const steps = rowsOf(plan).filter((each) => each.dataset.step && (each === row || !row.contains(each)));
  return steps.flatMap((step) => (isFirst(step) ? [{ before: step }, { after: step }] : [{ after: step }]));
}

const isHere = (row, { before, after }) => (before ?? after) === row || (after && beside(after, "nextElementSibling") === row);

/** The row beside another one in its list, skipping those that are only suggested. */
function beside(row, direction) {
  let next = row[direction];
  while (next?.matches(".ghost, [data-my-removed]")) next = next[direction];
  return next;
}

const depthOf = (row) => Number(/\bdeep-(\d)/.exec(row.className)?.[1] ?? 0);

function isFirst(row) {
  const above = beside(row, "previousElementSibling");
  return !above?.dataset.step || depthOf(above) < depthOf(row);
}

function pick(row, pointer) {
  moving = { planId: planOf(row).id, step: row.dataset.step, pointer, place: null };
  row.setAttribute("data-my-moving", "");
}

function showPlace(place) {
  moving.place = place;
  const { before, after } = place;
  const box = (before ?? after).getBoundingClientRect();
  line.style.left = `${box.left + scrollX}px`;
  line.style.width = `${box.width}px`;
  line.style.top = `${(before ? box.top : box.bottom) + scrollY - 1}px`;
  if (!line.isConnected) document.body.append(line);
}

function end(drop) {
  if (!moving) return;
  const { planId, step, place } = moving;
  moving = null;
  line.remove();
  const row = rowBy(planId, step), plan = document.getElementById(planId);
  row?.removeAttribute("data-my-moving");
  if (!drop || !place || !plan) return;
  const anchor = place.before ?? place.after;
  if (!row || !anchor.isConnected) return void say("Not moved: the plan changed");
  if (isHere(row, place)) return;
  begin("move", plan, row, place.before ? { before: anchor.dataset.step } : { after: anchor.dataset.step });
}

/** Where the words of a row are: what is nested in it comes below. */
function middle(row) {
  const { top, bottom } = (row.querySelector(".words") ?? row).getBoundingClientRect();
  return (top + bottom) / 2;
}

function placeAt(plan, row, y) {
  const places = placesOf(plan, row);
  let found = places[0];
  for (const place of places) {
    if ((place.before ? place.before.getBoundingClientRect().top : middle(place.after)) < y) found = place;
  }
  return found;
}

export function grip(handle, rowOfHandle) {
  handle.addEventListener("pointerdown", (event) => {
    const row = rowOfHandle();
    if (event.button || !row) return;
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    pick(row, event.pointerId);
  });
  handle.addEventListener("pointermove", (event) => {
    if (moving?.pointer !== event.pointerId) return;
    const row = rowBy(moving.planId, moving.step);
    if (!row) return end(false);
    if (event.clientY < 90) scrollBy(0, -12);
    if (event.clientY > innerHeight - 60) scrollBy(0, 12);
    showPlace(placeAt(planOf(row), row, event.clientY));
  });
  handle.addEventListener("pointerup", (event) => { if (moving?.pointer === event.pointerId) end(true); });
  handle.addEventListener("pointercancel", () => end(false));
}

export const isMoving = () => moving !== null;
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !moving) return;
  event.preventDefault();
  end(false);
  say("Move cancelled");
});
