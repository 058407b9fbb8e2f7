// What this person has not seen of a plan, counted on the buttons that approve it. A line is seen once all of it was in
// sight, in this browser. Each line has a key (readmodel/unseen.py), so what was read stays read in the next version.

import { onChanged } from "./page.js";
import { person } from "./plans.js";

const KEPT = `planwire seen ${person}`;
const SCOPES = ".asking, [data-steer]";
const MOST_PLANS = 60; // that are remembered
const ALL = 0.995; // of a part: the browser rounds

const keysOf = (part) => part.dataset.lines.split(" ");
const addressOf = (scope) => scope.dataset.steer ?? scope.querySelector("[data-answer]")?.dataset.answer;
const known = new Map(); // the keys of the lines seen, by plan

function seenOf(address) {
  if (!known.has(address)) known.set(address, new Set(JSON.parse(localStorage.getItem(KEPT + address))?.keys));
  return known.get(address);
}

/** How many lines of a plan that this page shows, or leaves out, the person has not seen; Infinity if it can't be read. */
export function countUnseen(scope) {
  if (scope.querySelector("[data-unread]")) return Infinity;
  const seen = seenOf(addressOf(scope)), parts = [...scope.querySelectorAll("[data-lines]")];
  const gaps = [...scope.querySelectorAll("[data-left-out]")].map(({ dataset }) => Number(dataset.leftOut));
  return gaps.reduce((sum, each) => sum + each, new Set(parts.flatMap(keysOf).filter((key) => !seen.has(key))).size);
}

/** What the label of an approval adds; readmodel/unseen.py says the same. */
export const unseenWords = (count) =>
  count === Infinity ? ", text unseen" : count ? `, ${count.toLocaleString("en")} ${count === 1 ? "line" : "lines"} unseen` : "";

function label() {
  for (const scope of document.querySelectorAll(SCOPES)) {
    const places = scope.querySelectorAll(".count-unseen");
    const words = places.length ? unseenWords(countUnseen(scope)) : "";
    for (const place of places) if (place.textContent !== words) place.textContent = words;
  }
  for (const listener of listeners) listener();
}

const listeners = [];
export const onSeen = (listener) => { listeners.push(listener); };

/** Remember what was seen of a plan, of what its page has; and forget the plans that nobody has looked at for longest. */
function keep(address, scope) {
  const here = new Set([...scope.querySelectorAll("[data-lines]")].flatMap(keysOf)), isWhole = scope.querySelector("[data-answer]");
  const keys = [...seenOf(address)].filter((key) => !isWhole || here.has(key));
  const kept = Object.keys(localStorage).filter((each) => each.startsWith(KEPT));
  const ages = kept.map((each) => [JSON.parse(localStorage.getItem(each)).at, each]).sort(([one], [other]) => other - one);
  for (const [, old] of ages.slice(MOST_PLANS)) localStorage.removeItem(old);
  try {
    localStorage.setItem(KEPT + address, JSON.stringify({ at: Date.now(), keys }));
  } catch { /* there is no room: it counts on this page */ }
}

// ---------------------------------------------------------------- what is in sight

const states = new WeakMap(); // for each element: its lines, the spans of it that were in sight (0 is its top, 1 its end)
const near = new Set(); // elements in sight of which something was not
let observer = null, margin = null;

function stateOf(part) {
  if (states.get(part)?.lines !== part.dataset.lines) states.set(part, { lines: part.dataset.lines, spans: [] });
  return states.get(part);
}

const isWhole = (part) => {
  const [first] = stateOf(part).spans;
  return Boolean(first) && first[1] - first[0] >= ALL;
};

const isCut = (part) => [part, ...part.querySelectorAll(".words")].some((each) =>
  each.scrollHeight > each.clientHeight + 2 && getComputedStyle(each).overflowY === "hidden");

/** Add what is in sight of an element. */
function add(part, { boundingClientRect: box, intersectionRect: shown }) {
  if (shown.width < box.width - 2 || !part.checkVisibility() || isCut(part)) return;
  const height = box.height || 1, from = (shown.top - box.top) / height, to = (shown.bottom - box.top) / height;
  const all = [...stateOf(part).spans, [from, box.height ? to : 1]].sort(([one], [other]) => one - other);
  const joined = [all[0]];
  for (const [start, end] of all.slice(1)) {
    const last = joined.at(-1);
    if (start <= last[1] + 0.002) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  stateOf(part).spans = joined;
}

function look(entries) {
  const changed = new Map();
  for (const entry of entries) {
    const part = entry.target, scope = part.closest(SCOPES);
    near.delete(part);
    if (!entry.isIntersecting || !scope) continue;
    add(part, entry);
    if (!isWhole(part)) { near.add(part); continue; }
    observer.unobserve(part);
    const row = part.closest("tr") ?? part; // the cells of a row share its line
    if (![...row.querySelectorAll("[data-lines]")].every(isWhole)) continue;
    const address = addressOf(scope), seen = seenOf(address);
    for (const key of keysOf(part)) seen.add(key);
    changed.set(address, scope);
  }
  for (const [address, scope] of changed) keep(address, scope);
  if (changed.size) label();
}

/** Look again at what was only partly in sight: an element observed anew is reported at once. */
let waits = false;
function lookAgain() {
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    for (const part of near) { observer.unobserve(part); observer.observe(part); }
  });
}

/** Observe what the page has. What lies under a bar at its edge is not in sight. */
function watch() {
  const bars = [...document.querySelectorAll(".plan > .answer-form, .review-bar")].map((bar) => bar.offsetHeight + 12);
  const now = document.querySelector(".session-head > .now"), above = now?.offsetHeight ? now.offsetHeight + 12 : 0;
  const wanted = `-${above}px 0px -${Math.min(Math.max(0, ...bars), innerHeight / 2)}px 0px`;
  if (wanted !== margin) {
    observer?.disconnect();
    margin = wanted;
    observer = new IntersectionObserver(look, { rootMargin: wanted });
  }
  for (const part of document.querySelectorAll("[data-lines]:not(.left-out)")) if (!isWhole(part)) observer.observe(part);
  for (const table of document.querySelectorAll(".prose table")) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  label();
}

export function startUnseen() {
  addEventListener("scroll", lookAgain, { capture: true, passive: true });
  addEventListener("resize", watch);
  document.addEventListener("click", () => setTimeout(lookAgain)); // it may have shown more
  addEventListener("storage", ({ key }) => { if (key?.startsWith(KEPT)) { known.clear(); label(); } });
  onChanged(watch);
  watch();
}
