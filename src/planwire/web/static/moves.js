// Moves of a step, by its grip or with Alt and the arrows. A line shows the new place; the request goes out when the
// person lets go.

import { el, nameOf, planOf, revisionOf, rowBy, rowsOf, say, stepAbove } from "./plans.js";
import { change, replaced } from "./steps.js";

const line = el("div", { class: "drop-line" });
let moving = null; // { planId, step, name, revision, place, pointer }

/** Every place that a step can go to, from the top: behind each other step, and before the first of each list. */
function placesOf(plan, row) {
  const places = [];
  for (const each of rowsOf(plan)) {
    if (row.contains(each) && each !== row) continue;
    const list = each.parentElement;
    if (list.querySelector(":scope > [data-step]") === each) places.push({ before: each });
    places.push({ after: each });
  }
  return places;
}

/** What brings a step to a place. A text can have several lists: to be the first of one is to change places with it. */
function changesTo(plan, step, { before, after }) {
  if (after) return [{ do: "move", step, after: after.dataset.step }];
  const first = before.dataset.step;
  const above = stepAbove(plan);
  if (above) return [{ do: "move", step, after: above }];
  if (rowsOf(plan)[0] === before) return [{ do: "move", step, after: "" }];
  return [{ do: "move", step, after: first }, { do: "move", step: first, after: step }];
}

const isHere = (row, { before, after }) => (before ?? after) === row || (after && nextOf(after) === row);

function nextOf(row) {
  let next = row.nextElementSibling;
  while (next?.classList.contains("ghost")) next = next.nextElementSibling;
  return next;
}

function begin(row, pointer) {
  const plan = planOf(row);
  const { step } = row.dataset;
  moving = { planId: plan.id, step, name: nameOf(row), revision: revisionOf(plan), pointer, place: null };
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

async function end(drop) {
  if (!moving) return;
  const { planId, step, name, revision, place } = moving;
  moving = null;
  line.remove();
  const row = rowBy(planId, step), plan = document.getElementById(planId);
  row?.removeAttribute("data-my-moving");
  if (!drop || !place || !plan) return;
  const anchor = place.before ?? place.after;
  if (!row || !anchor.isConnected) return void say("It was not moved: the plan has changed meanwhile");
  if (isHere(row, place)) return;
  const where = `${place.before ? "before" : "behind"} ${nameOf(anchor)}`;
  const withdrawSuggestion = replaced(row, "move");
  const came = await change(plan, changesTo(plan, step, place), `move ${name} ${where}`, { revision });
  if (came.done) withdrawSuggestion?.();
}

// ---------------------------------------------------------------- with a pointer

/** Where the words of a row are: what is nested in it comes below. */
function middle(row) {
  const { top, bottom } = (row.querySelector(".words") ?? row).getBoundingClientRect();
  return (top + bottom) / 2;
}

function placeAt(plan, row, y) {
  const places = placesOf(plan, row);
  let found = places[0];
  for (const place of places) if (middle(place.before ?? place.after) < y && place.after) found = place;
  const next = found?.after && places[places.indexOf(found) + 1];
  // Between the end of one list and the beginning of another, the nearer one is meant.
  if (!next?.before) return found;
  const border = (found.after.getBoundingClientRect().bottom + next.before.getBoundingClientRect().top) / 2;
  return y > border ? next : found;
}

export function grip(handle, rowOfHandle) {
  handle.addEventListener("pointerdown", (event) => {
    const row = rowOfHandle();
    if (event.button || !row) return;
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    begin(row, event.pointerId);
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

// ---------------------------------------------------------------- with keys

/** Move a step one place further; `at once`, or when Alt is let go. */
export function moveBy(row, by, atOnce = false) {
  const plan = planOf(row);
  if (moving && moving.step !== row.dataset.step) end(false);
  if (!moving) begin(row, null);
  const places = placesOf(plan, row);
  const at = (wanted) => places.findIndex((place) => place.before === wanted.before && place.after === wanted.after);
  const here = moving.place ? at(moving.place) : -1;
  let to = (here < 0 ? at({ after: row }) : here) + by;
  while (places[to] && isHere(row, places[to])) to += by;
  if (places[to]) {
    showPlace(places[to]);
    const { before, after } = places[to];
    say(`${before ? "before" : "behind"} ${nameOf(before ?? after)}`);
    (before ?? after).scrollIntoView({ block: "nearest" });
  } else if (!moving.place) {
    say(by < 0 ? "It is the first one" : "It is the last one");
  }
  if (atOnce) end(true);
}

export const isMoving = () => moving !== null;
addEventListener("keyup", (event) => {
  if (event.key !== "Alt" || !moving || moving.pointer !== null) return;
  event.preventDefault();
  end(true);
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !moving) return;
  event.preventDefault();
  end(false);
  say("It stays where it was");
});
addEventListener("blur", () => { if (moving?.pointer === null) end(false); });
