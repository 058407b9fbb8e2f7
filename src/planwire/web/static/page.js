// The page and what changes it. The server sends differences between two pages (see page_tree.py): ["set", id, html] and
// ["list", id, ids, new]. Applying one touches nothing but what changed.

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const policy = window.trustedTypes?.createPolicy("planwire", { createHTML: (html) => html });

/** HTML that the board itself made, in the form that the browser takes. */
export const trusted = (html) => (policy ? policy.createHTML(html) : html);

export function element(html) {
  const template = document.createElement("template");
  template.innerHTML = trusted(html);
  return template.content.firstElementChild;
}

// ---------------------------------------------------------------- making one element look like another

/** What the script itself puts on elements stays on them. */
const isOwn = (name) => name.startsWith("data-my-") || ["tabindex", "style", "aria-description", "aria-expanded", "aria-controls"].includes(name);
/** An element of the script's own at the end of a row stays as well. Others make room, until they are put back. */
const guestOf = (parent) => (parent.lastElementChild?.hasAttribute("data-my-guest") ? parent.lastElementChild : null);

/** Make `old` look like `fresh`, touching only what differs. Elements with the same id, or the same place, stay. */
export function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return old;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return fresh;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return old;
  }
  noteStatus(old, fresh);
  for (const each of old.querySelectorAll(":scope > .draft")) each.remove();
  for (const { name } of [...old.attributes]) {
    if (fresh.hasAttribute(name) || isOwn(name) || (old.nodeName === "DETAILS" && name === "open")) continue;
    old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const guest = guestOf(old);
  const wanted = [...fresh.childNodes];
  for (let at = 0; at < wanted.length; at++) {
    const want = wanted[at];
    const have = old.childNodes[at];
    const same = want.id ? [...old.children].find((child) => child.id === want.id) : null;
    if (same && same !== have) old.insertBefore(same, have ?? null);
    if (same) morph(same, want);
    else if (!have || have.id) old.insertBefore(want, have ?? null);
    else morph(have, want);
  }
  while (old.childNodes.length > wanted.length + (guest ? 1 : 0)) (guest?.previousSibling ?? old.lastChild).remove();
  return old;
}

// ---------------------------------------------------------------- what just happened to a step

let happened = [];

function flash(row, kind) {
  row.classList.remove(kind);
  requestAnimationFrame(() => row.classList.add(kind));
  const end = () => row.classList.remove(kind);
  row.addEventListener("animationend", end, { once: true });
  setTimeout(end, 1600);
}

function noteStatus(old, fresh) {
  const before = old.dataset.status, after = fresh.dataset.status;
  if (before && after && before !== after) happened.push([old, after === "done" ? "just-done" : "just-changed"]);
}

function relist(list, ids, fresh) {
  if (list.hasAttribute("data-steady") && list.contains(under)) return void hold(list, ids, fresh);
  held.delete(list.id);
  const known = new Map([...list.children].filter((child) => !child.hasAttribute(REMOVED)).map((child) => [child.id, child]));
  const wanted = new Set(ids);
  const order = [...known.keys()].filter((id) => wanted.has(id));
  const stayed = ids.filter((id) => known.has(id));
  for (const [id, child] of known) if (!wanted.has(id)) leave(child);
  let place = list.firstElementChild;
  for (const id of ids) {
    let child = known.get(id);
    while (place?.hasAttribute(REMOVED)) place = place.nextElementSibling;
    if (!child) {
      child = arrive(element(fresh[id]));
    } else if (fresh[id]) {
      morph(child, element(fresh[id])); // it went and came back while the list was held
    }
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
  stayed.forEach((id, at) => { if (order[at] !== id) happened.push([known.get(id), "just-moved"]); });
}

let left = new Map(); // steps and sessions that a list lost in this change, by id: a fold, or the list around it, may get them

function leave(child) {
  for (const row of stepsIn(child)) {
    left.set(row.id, row);
    notePlace(row);
  }
  child.remove();
}

// ---------------------------------------------------------------- steps that were removed stay for a last look

const places = new WeakMap(); // where rows stood that the page lost: the list, the row before them, and their plan
const REMOVED = "data-my-removed"; // since when, in milliseconds
const A_LOOK = 8000, MOST_REMOVED = 12;

function notePlace(row) {
  places.set(row, [row.parentElement, row.previousElementSibling, row.closest(".plan")]);
}

/** Change a part of the page. Of the steps in a text it notes which ones it loses; copies of lost ones stay. */
function reset(part, html) {
  const rows = part.querySelectorAll("[data-step]");
  const copies = [...part.querySelectorAll(`[${REMOVED}]`)].map((copy) => [copy, copy.parentElement, copy.previousElementSibling]);
  for (const row of rows) notePlace(row);
  for (const [copy] of copies) copy.remove();
  morph(part, element(html));
  for (const [copy, list, before] of copies) put(copy, list, before);
  for (const row of rows) if (!row.isConnected) left.set(row.id, row);
}

function put(copy, list, before) {
  if (before?.isConnected) before.after(copy);
  else if (list.isConnected) list.prepend(copy);
}

/** A list below a plan that has lost all its steps. */
function shelfOf(plan) {
  if (plan.querySelector(".shelf")) return plan.querySelector(".shelf");
  const shelf = document.createElement("ol");
  shelf.className = "steps shelf";
  shelf.setAttribute(REMOVED, Math.round(performance.now()));
  plan.querySelector(":scope > :is(.text, .nothing)")?.after(shelf);
  return shelf;
}

/** Show steps that the plan has lost struck through, in their places, until the person has had the time to look. */
function showRemoved() {
  for (const row of [...left.values()].slice(0, MOST_REMOVED)) {
    const [list, before, plan] = places.get(row);
    const isWindow = plan?.querySelector(".gap"); // it leaves rows out as it moves
    if (!plan?.isConnected || isWindow || !row.dataset.step || document.getElementById(row.id)) continue;
    const copy = row.cloneNode(true), tag = document.createElement("span");
    for (const name of [...copy.attributes].map((each) => each.name)) if (name !== "class") copy.removeAttribute(name);
    for (const each of copy.querySelectorAll("button, [data-my-guest], ul, ol")) each.remove();
    for (const each of copy.querySelectorAll("[id], [data-lines]")) { each.removeAttribute("id"); each.removeAttribute("data-lines"); }
    copy.setAttribute(REMOVED, Math.round(performance.now()));
    tag.className = "tag tag-removed";
    tag.textContent = "removed";
    (copy.querySelector(".words") ?? copy.lastChild).after(" ", tag);
    const above = list.isConnected ? null : list.closest("[data-step]"); // it went as well
    places.set(row, [list, copy]);
    const at = before?.isConnected ? before : (places.get(before) ?? places.get(above))?.[1];
    put(copy, list.isConnected ? list : shelfOf(plan), at);
  }
}

function dropRemoved() {
  for (const row of document.querySelectorAll(`[${REMOVED}]`)) {
    if (performance.now() - row.getAttribute(REMOVED) > A_LOOK) row.remove();
  }
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) dropRemoved(); });

/** A new child of a list. Steps in it that were elsewhere before stay the same: they keep the focus, and what people
 * opened. */
function arrive(child) {
  let place = child;
  for (const fresh of stepsIn(child)) {
    const row = left.get(fresh.id) ?? elsewhere(fresh.id);
    if (!row) continue;
    left.delete(fresh.id);
    if (fresh === child) place = row;
    else fresh.replaceWith(row);
    morph(row, fresh);
  }
  if (place === child) happened.push([child, "just-added"]);
  return place;
}

/** A session that another list on the page still has, unless that one waits for the pointer to leave. */
function elsewhere(id) {
  const row = document.getElementById(id);
  return row?.matches(".session-row") && !row.closest("[data-steady]").contains(under) ? row : null;
}

const LASTING = "[data-step], .session-row"; // rows that stay the same, wherever a change puts them
const stepsIn = (part) => (part.matches(LASTING) ? [part] : [...part.querySelectorAll(LASTING)]);

// ---------------------------------------------------------------- nothing folds where a person is

/** The steps in sight in a list that has the pointer or the focus. */
function stepsInUse() {
  const lists = [...document.querySelectorAll(".session:not(.whole) .steps")].filter(isInUse);
  return lists.flatMap(stepsIn).filter((row) => row.checkVisibility());
}

const isInUse = (list) => list.contains(under) || list.contains(homeOf(document.activeElement));

/** Keep these steps in sight, if they are in a closed fold by now. */
function keepInSight(rows) {
  for (const { id } of rows) {
    const row = document.getElementById(id), fold = row?.closest(".fold > details");
    if (!fold || (fold.open && !fold.hasAttribute("data-my-held"))) continue;
    row.setAttribute("data-my-kept", "");
    fold.setAttribute("data-my-held", "");
    fold.open = true;
  }
}

function release(fold, open) {
  fold.removeAttribute("data-my-held");
  for (const row of stepsIn(fold)) row.removeAttribute("data-my-kept");
  fold.open = open;
}

/** Close the folds that the person has left. */
function closeFolds() {
  const folds = [...document.querySelectorAll(".fold > [data-my-held]")].filter((each) => !isInUse(each.closest(".steps")));
  if (!folds.length) return;
  happened = [];
  const places = underPointer();
  for (const fold of folds) release(fold, false);
  keepPlace(places);
}

document.addEventListener("focusout", () => setTimeout(closeFolds));
document.addEventListener("click", (event) => {
  const fold = event.target.closest("summary")?.parentElement;
  if (!fold?.hasAttribute("data-my-held")) return;
  event.preventDefault();
  release(fold, true);
});

// ---------------------------------------------------------------- nothing moves under the pointer

let under = null; // the element under the mouse; for the composer, the one that it stands at
const held = new Map(); // lists under the pointer, by id, with the order that they get when it leaves
const MOST_DRAWN = 60; // new rows that are drawn before their turn
let gaps = []; // what keeps rows in their places while the pointer is on them
let longer = null; // the list for which the page is longer than its content, while the pointer is on it

/** The element itself, or the one that the composer stands at: a person in the composer is still there. */
const homeOf = (element) => (element?.closest(".composer") && document.querySelector("[data-my-room]")) || element;

/** Show what is new in a list, and leave its order for later. What is gone from it takes no more answers. */
function hold(list, ids, fresh) {
  held.set(list.id, ids);
  for (const child of list.children) {
    if (ids.includes(child.id) || child.hasAttribute("data-my-gone")) continue;
    child.setAttribute("data-my-gone", "");
    child.id = `gone-${child.id}`; // it may be elsewhere by now
  }
  for (const [id, html] of Object.entries(fresh)) {
    const known = [...list.children].find((child) => child.id === id);
    if (known) morph(known, element(html));
    else list.append(element(html));
  }
}

/** The things under the pointer whose places a change should keep: the innermost one, and the rows after it. */
function underPointer() {
  const here = under?.closest(".plans li[id], .plans [id]:not([data-my-guest]), .inbox .session-row");
  const all = [];
  for (let each = here; each && all.length < 4; each = each.nextElementSibling) if (each.id) all.push(each);
  return all.map((each) => [each, each.id, each.getBoundingClientRect().top]);
}

/** Bring the first of them that is still in sight back to its place. If rows changed their order, nothing scrolls: the
 * eye follows them. */
function keepPlace(places) {
  if (!places.length || happened.some(([, kind]) => kind === "just-moved")) return;
  const added = happened.filter(([, kind]) => kind === "just-added");
  // A new row has its true height only once it is drawn.
  for (const [row] of added.slice(0, MOST_DRAWN)) row.style.contentVisibility = "visible";
  for (const [then, id, top] of places) {
    const now = then.isConnected ? then : document.getElementById(id);
    if (!now?.checkVisibility()) continue;
    const missing = () => top - now.getBoundingClientRect().top;
    if (Math.abs(missing()) < 1) return;
    scrollBy({ top: -missing(), behavior: "instant" });
    const list = now.closest(".steps, .prose, .sessions");
    if (missing() <= -1 && list) { // the page ends too early to scroll that far
      document.body.style.minHeight = `${innerHeight + scrollY - missing()}px`;
      longer = list;
      scrollBy({ top: -missing(), behavior: "instant" });
    }
    if (missing() < 1 || !list) return; // the page could scroll as far as it had to
    list.style.paddingBlockStart = `${parseFloat(list.style.paddingBlockStart || 0) + missing()}px`;
    gaps.push(list);
    return;
  }
}

/** Note what is under the mouse, and give what it has left its new order and place. A finger rests on nothing. */
function pointAt(element) {
  under = homeOf(element);
  for (const list of gaps) if (!list.contains(under)) list.style.paddingBlockStart = "";
  gaps = gaps.filter((list) => list.contains(under));
  if (longer && !longer.contains(under)) {
    longer = null;
    document.body.style.minHeight = "";
  }
  for (const [id, ids] of [...held]) {
    if (document.getElementById(id)?.contains(under)) continue;
    held.delete(id);
    show([["list", id, ids, {}]]);
  }
  closeFolds();
}

let mouse = null; // where it is
let animation = null; // the one that runs: meanwhile the rows that move can't be found under the mouse

const lookUnder = () => pointAt(mouse && document.elementFromPoint(mouse.clientX, mouse.clientY));
for (const kind of ["pointerover", "pointermove"]) {
  document.addEventListener(kind, (event) => {
    mouse = event.pointerType === "touch" ? null : event;
    if (kind === "pointerover" && !animation) lookUnder();
  }, { passive: true });
}
document.documentElement.addEventListener("pointerleave", () => { mouse = null; lookUnder(); });

// ---------------------------------------------------------------- applying a difference

const listeners = [];

/** Call a function whenever the page has changed. */
export const onChanged = (listener) => { listeners.push(listener); };

export function changed() {
  for (const listener of listeners) listener();
}

function apply(changes, animated) {
  happened = [];
  left = new Map();
  const focused = document.activeElement, places = underPointer(), inUse = stepsInUse(), nearby = rowsFrom(focused);
  for (const [what, id, ...rest] of changes) {
    const target = document.getElementById(id);
    if (!target) continue;
    if (what === "set" && target.querySelector("[data-steady]")) held.clear();
    if (what === "set") reset(target, rest[0]);
    else relist(target, ...rest);
  }
  if (!document.hidden) dropRemoved();
  showRemoved();
  keepInSight(inUse);
  // What moves loses the focus on its way.
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
  if (!focused?.isConnected) nearby.find((row) => row.checkVisibility())?.querySelector(".session-link").focus({ preventScroll: true });
  changed();
  keepPlace(places);
  if (animated) for (const [row, kind] of happened) if (row.isConnected && isInSight(row)) flash(row, kind);
}

/** The session that has the focus, then those after and before it: they get the focus if it is answered and goes. */
function rowsFrom(element) {
  const own = element?.closest(".session-row"), rows = own ? [...document.querySelectorAll(".session-row")] : [];
  return [...rows.slice(rows.indexOf(own)), ...rows.slice(0, rows.indexOf(own)).reverse()];
}

function isInSight(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return bottom >= 0 && top <= innerHeight;
}

/** Rows that are in sight and may move get a name, so that the browser can animate them from place to place. */
function nameRows(changes) {
  const named = [];
  for (const [what, id] of changes) {
    if (what !== "list") continue;
    for (const row of document.getElementById(id)?.children ?? []) {
      if (named.length >= 60) return named;
      if (!row.id || !isInSight(row)) continue; // the copy of a removed step has no id
      row.style.viewTransitionName = `row-${CSS.escape(row.id).replace(/[^A-Za-z0-9_-]/g, "_")}`;
      named.push(row);
    }
  }
  return named;
}

let shownAt = -Infinity;
let waiting = null; // what came while the browser still looks at the page as it was, in the order in which it came

/** Forget what was not applied yet: the page is about to be another one. */
export function forget() {
  held.clear();
  if (waiting) waiting = [];
}

/** Apply a difference. Changes that come faster than they can be watched are only shown. */
export function show(changes) {
  if (waiting) {
    waiting.push(changes);
    return;
  }
  const moves = changes.some(([what]) => what === "list");
  const now = performance.now();
  const often = now - shownAt < 250;
  shownAt = now;
  document.documentElement.classList.toggle("busy", often);
  if (!moves || often || calm.matches || document.hidden || !document.startViewTransition) {
    apply(changes, !often);
    return;
  }
  let named = nameRows(changes);
  waiting = [changes];
  const transition = document.startViewTransition(() => {
    const all = waiting;
    waiting = null;
    for (const each of all) apply(each, true);
    for (const row of named) row.style.viewTransitionName = "";
    named = nameRows(changes);
  });
  animation = transition;
  transition.ready.catch(() => {});
  transition.finished.finally(() => {
    for (const row of named) row.style.viewTransitionName = "";
    if (animation !== transition) return; // another one has taken over
    animation = null;
    lookUnder();
  });
}
