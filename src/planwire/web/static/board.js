// The board's only script. Pages are complete without it: it keeps them live, and makes a few things handier.
//
// The server sends differences between two pages (see parts.py): ["set", id, html] and ["list", id, ids, new].
// They are applied to the elements that are there, so that what did not change is not touched.

const body = document.body;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const policy = window.trustedTypes?.createPolicy("planwire", { createHTML: (html) => html });

// ---------------------------------------------------------------- HTML into elements

function element(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content.firstElementChild;
}

/** Make `old` look like `fresh`, touching only what differs. Elements with the same id, or the same place, stay. */
function morph(old, fresh) {
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
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !(old.nodeName === "DETAILS" && name === "open")) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
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
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
  return old;
}

// ---------------------------------------------------------------- what just happened to a step

function flash(row, kind) {
  row.classList.remove(kind);
  requestAnimationFrame(() => row.classList.add(kind));
  const end = () => row.classList.remove(kind);
  row.addEventListener("animationend", end, { once: true });
  setTimeout(end, 1600);
}

let happened = [];

function noteStatus(old, fresh) {
  const before = old.dataset.status, after = fresh.dataset.status;
  if (before && after && before !== after) happened.push([old, after === "done" ? "just-done" : "just-changed"]);
}

function relist(list, ids, fresh) {
  const known = new Map([...list.children].map((child) => [child.id, child]));
  const wanted = new Set(ids);
  const order = [...known.keys()].filter((id) => wanted.has(id));
  const stayed = ids.filter((id) => known.has(id));
  for (const [id, child] of known) if (!wanted.has(id)) child.remove();
  let place = list.firstElementChild;
  for (const id of ids) {
    let child = known.get(id);
    if (!child) {
      child = element(fresh[id]);
      happened.push([child, "just-added"]);
    }
    if (child === place) place = place.nextElementSibling;
    else list.insertBefore(child, place);
  }
  stayed.forEach((id, at) => { if (order[at] !== id) happened.push([known.get(id), "just-moved"]); });
}

// ---------------------------------------------------------------- applying a difference

function apply(changes, animated) {
  happened = [];
  for (const [what, id, ...rest] of changes) {
    const target = document.getElementById(id);
    if (!target) continue;
    if (what === "set") morph(target, element(rest[0]));
    else relist(target, ...rest);
  }
  showTimes();
  announce();
  if (animated) for (const [row, kind] of happened) if (row.isConnected && isInSight(row)) flash(row, kind);
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
      if (!isInSight(row)) continue;
      row.style.viewTransitionName = `row-${CSS.escape(row.id).replace(/[^A-Za-z0-9_-]/g, "_")}`;
      named.push(row);
    }
  }
  return named;
}

let shownAt = -Infinity;

function show(changes) {
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
  const transition = document.startViewTransition(() => {
    apply(changes, true);
    for (const row of named) row.style.viewTransitionName = "";
    named = nameRows(changes);
  });
  transition.ready.catch(() => {});
  transition.finished.finally(() => { for (const row of named) row.style.viewTransitionName = ""; });
}

// ---------------------------------------------------------------- words for ears, and times

let announced = document.querySelector("[data-announce]")?.dataset.announce;
let announcing = 0;

function announce() {
  const words = document.querySelector("[data-announce]")?.dataset.announce;
  if (!words || words === announced) return;
  announced = words;
  clearTimeout(announcing);
  announcing = setTimeout(() => { document.getElementById("announcer").textContent = announced; }, 700);
}

const units = [["s", 1e3, 60], ["min", 6e4, 60], ["h", 36e5, 48], ["d", 864e5, Infinity]];

function ago(then) {
  const passed = Math.max(Date.now() - then, 0);
  const [unit, size] = units.find(([, size, most]) => passed / size < most);
  const count = Math.floor(passed / size);
  return count ? `${count} ${unit} ago` : "now";
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function showTimes() {
  for (const time of document.querySelectorAll("time[data-show]")) {
    const then = new Date(time.dateTime);
    const words = time.dataset.show === "ago" ? ago(then) : clock.format(then);
    if (time.textContent !== words) time.textContent = words;
    if (!time.title) time.title = clock.format(then);
  }
}

// ---------------------------------------------------------------- the stream

const connection = document.getElementById("connection");
let source = null;
let version = body.dataset.version;

function tell(state, words) {
  if (connection.dataset.state === state) return;
  connection.dataset.state = state;
  connection.textContent = words;
}

function connect() {
  if (source || document.hidden || !body.dataset.live) return;
  const address = new URL(body.dataset.live, location.href);
  address.searchParams.set("since", version);
  source = new EventSource(address);
  source.onopen = () => tell("live", "live");
  source.onmessage = (message) => {
    version = message.lastEventId;
    show(JSON.parse(message.data));
  };
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return tell("lost", "connection lost, trying again …");
    disconnect();
    tell("lost", "connection lost, trying again …");
    setTimeout(refresh, 2000);
  };
}

function disconnect() {
  source?.close();
  source = null;
}

/** After a refusal: the board may be back, with or without knowing this browser. */
async function refresh() {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) return tell("locked", "the board was started anew: open the address that it printed");
    if (answer.ok) connect();
    else setTimeout(refresh, 4000);
  } catch {
    setTimeout(refresh, 4000);
  }
}

// A browser has few connections to spare: a page that nobody sees lets go of its own.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) disconnect();
  else connect();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", connect);

// ---------------------------------------------------------------- searching, the slider, copying, keys

async function fetched(address, id) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) return null;
  const html = await answer.text();
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
  return { page, part: page.getElementById(id) };
}

/** Call it as often as you like: one runs at a time, and the last call is never lost. */
function latest(work) {
  let running = null, wanted = false;
  return async function run() {
    if (running) { wanted = true; return; }
    running = work();
    try { await running; } catch { /* the connection is told of elsewhere */ }
    running = null;
    if (wanted) { wanted = false; run(); }
  };
}

const find = () => document.getElementById("find");

const search = latest(async () => {
  const fields = new URLSearchParams([...new FormData(find())].filter(([, value]) => value));
  const address = `${find().action}${fields.size ? "?" + fields : ""}`;
  const got = await fetched(address, "content");
  if (!got?.part) return;
  disconnect();
  history.replaceState(null, "", address);
  body.dataset.live = got.page.body.dataset.live;
  version = got.page.body.dataset.version;
  morph(document.getElementById("content"), got.part);
  showTimes();
  connect();
});

const slide = latest(async () => {
  const slider = document.getElementById("slider");
  const address = `${slider.form.dataset.then}?moment=${slider.value}`;
  const got = await fetched(`${address}&part=then`, "then");
  if (!got?.part) return;
  morph(document.getElementById("then"), got.part);
  history.replaceState(null, "", address);
  showTimes();
});

document.addEventListener("input", (event) => {
  if (event.target.closest("#find")) search();
  if (event.target.id === "slider") slide();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-submit]")) event.target.form.requestSubmit();
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "find") return;
  event.preventDefault();
  search();
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-copy]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const name = link.textContent;
  try {
    await navigator.clipboard.writeText(await (await fetch(link.dataset.copy)).text());
    link.textContent = "Copied";
  } catch {
    link.textContent = "Not copied";
  }
  setTimeout(() => { link.textContent = name; }, 1500);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input:not([type=radio]), textarea, select");
  if (event.key === "Escape" && event.target.id === "search") event.target.blur();
  if (typing) return;
  if (event.key === "/" && document.getElementById("search")) {
    event.preventDefault();
    document.getElementById("search").focus();
  }
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
});

/** j and k walk through the sessions, or through the plans' actions. */
function step(by) {
  const stops = [...document.querySelectorAll(".session-link, .plan h2, .moment-links a:first-child")];
  const here = stops.indexOf(document.activeElement);
  const next = stops[Math.min(Math.max(here + by, 0), stops.length - 1)];
  if (next && !next.hasAttribute("href")) next.tabIndex = -1;
  next?.focus();
}

showTimes();
setInterval(showTimes, 5000);
connect();
document.documentElement.classList.add("scripted");
