// The board's script. Pages are complete without it: it keeps them live and makes a few things handier. On the page of a
// session it loads the scripts for steering, and where agents ask, those for answers.

import { fetched, latest, pageOf, textAt } from "./fetching.js";
import { startKeys } from "./keys.js";
import { keepsListening, lookForNews, startNotify } from "./notify.js";
import { changed, forget, morph, onChanged, show } from "./page.js";
import { offerMore, startRows } from "./rows.js";
import { countDown, showLife, showTimes } from "./times.js";
import { startTravel } from "./travel.js";

const body = document.body;

// ---------------------------------------------------------------- words for ears

let announced = document.querySelector("[data-announce]")?.dataset.announce;
let announcing = 0;

function announce() {
  const words = document.querySelector("[data-announce]")?.dataset.announce;
  if (!words || words === announced) return;
  announced = words;
  clearTimeout(announcing);
  announcing = setTimeout(() => { document.getElementById("announcer").textContent = announced; }, 700);
}

// ---------------------------------------------------------------- the stream

const connection = document.getElementById("connection");
let source = null;
let version = body.dataset.version;
const MADE_FOR = ["person", "role"]; // what of a team's board the page is for
const SOON = 200, LATER = 2000;
let patience = SOON; // milliseconds until a page whose stream was refused asks why: the first time at once
let due = 0;

function tell(state, words) {
  if (connection.textContent === words) return;
  connection.dataset.state = state;
  connection.textContent = words;
}

function connect() {
  if (source || (document.hidden && !keepsListening()) || !body.dataset.live) return;
  const address = new URL(body.dataset.live, location.href);
  address.searchParams.set("since", version);
  for (const each of MADE_FOR) if (body.dataset[each]) address.searchParams.set(each, body.dataset[each]);
  source = new EventSource(address);
  source.onopen = () => { tell("live", "live"); patience = SOON; };
  source.onmessage = (message) => {
    version = message.lastEventId;
    show(JSON.parse(message.data));
  };
  source.addEventListener("over", () => { // the board ended it: its person gets another page now, or none
    disconnect();
    refresh();
  });
  source.onerror = () => {
    lost();
    if (source.readyState !== EventSource.CLOSED) return;
    disconnect();
    refreshIn(patience);
    patience = LATER;
  };
}

const lost = () => tell("lost", "connection lost, reconnecting…");

function disconnect() {
  source?.close();
  source = null;
}

/** Whether there are words on the page that a reload could lose. */
const isWritten = () => [...document.querySelectorAll("textarea")].some((each) => each.value.trim());

const LOCKED = "role" in body.dataset
  ? "you are signed out: reload the page to sign in"
  : "the board was restarted: open the link it printed";

function refreshIn(milliseconds) {
  clearTimeout(due);
  due = setTimeout(refresh, milliseconds);
}

/** Find out why a stream ended or was refused: the board may have restarted and not know this browser, or its person
 * may have another role. A page with unsent words asks to be reloaded, and keeps checking. */
async function refresh() {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) return tell("locked", LOCKED);
    if (answer.status === 403) tell("locked", "you may not see this board any more: reload the page");
    else if (!answer.ok) lost();
    if (!answer.ok) return refreshIn(2 * LATER);
    const now = pageOf(await answer.text()).body.dataset;
    const differs = MADE_FOR.find((each) => now[each] !== body.dataset[each]);
    if (!differs) return connect();
    if (!isWritten()) return location.reload();
    tell("locked", differs === "role" ? "your role has changed: reload the page" : "somebody else is signed in: reload the page");
    refreshIn(LATER);
  } catch {
    lost();
    refreshIn(2 * LATER);
  }
}

const isLocked = () => connection?.dataset.state === "locked";
const wake = () => (isLocked() ? refresh() : connect());

// A browser has few connections to spare: a hidden page lets go of its own, unless it has to notify of news.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) wake();
  else if (!keepsListening()) disconnect();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", wake);

// ---------------------------------------------------------------- searching, copying

const find = () => document.getElementById("find");

const search = latest(async () => {
  const fields = new URLSearchParams([...new FormData(find())].filter(([, value]) => value));
  const address = `${find().action}${fields.size ? "?" + fields : ""}`;
  const got = await fetched(address, "content");
  if (!got?.part) return;
  disconnect();
  forget();
  history.replaceState(null, "", address);
  body.dataset.live = got.page.body.dataset.live;
  version = got.page.body.dataset.version;
  morph(document.getElementById("content"), got.part);
  changed();
  connect();
});

document.addEventListener("input", (event) => {
  if (event.target.closest("#find")) search();
});
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "find") return;
  event.preventDefault();
  search();
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-copy], [data-copy-text]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const name = link.dataset.myName ??= link.textContent; // a second click finds the words of the first
  try {
    const { copy, copyText } = link.dataset;
    await navigator.clipboard.writeText(copyText ?? (await textAt(copy)));
    link.textContent = "Copied";
  } catch {
    link.textContent = "Not copied";
  }
  setTimeout(() => { link.textContent = name; }, 1500);
});

// ---------------------------------------------------------------- keys

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = event.target.matches("input:not([type=radio]), textarea, select");
  if (event.key === "Escape" && event.target.id === "search") event.target.blur();
  if (typing || document.querySelector("dialog[open]")) return;
  if (event.key === "/" && document.getElementById("search")) {
    event.preventDefault();
    document.getElementById("search").focus();
  }
  if (event.key === "j" || event.key === "k") walk(event.key === "j" ? 1 : -1, STOPS);
  if (event.key === "n" || event.key === "p") walk(event.key === "n" ? 1 : -1, PLANS);
});

const PLANS = ".plan h2";
const ROWS = "[data-steer] :is([data-step], [data-suggestion]), .plan:not(:has([data-step])) h2";
const STOPS = `.session-link, ${ROWS}, .moment-links a:first-child`;

/** j and k walk through the rows in sight: sessions, steps, events; n and p from plan to plan. */
function walk(by, selector) {
  const stops = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const next = stopFrom(document.activeElement, stops, by) ?? (by > 0 ? stops.at(-1) : stops[0]);
  if (next && !next.hasAttribute("href") && !next.hasAttribute("tabindex")) next.tabIndex = -1;
  next?.focus();
}

function stopFrom(here, stops, by) {
  if (here === document.body) return stops.find((each) => each.ariaCurrent === "step") ?? stops[0];
  const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const beyond = stops.filter((each) => here.compareDocumentPosition(each) & side && !here.contains(each) && !each.contains(here));
  return by > 0 ? beyond[0] : beyond.at(-1);
}

showTimes();
onChanged(showTimes);
onChanged(countDown);
onChanged(offerMore);
onChanged(announce);
onChanged(lookForNews);
setInterval(showTimes, 5000);
setInterval(showLife, 1000);
setInterval(countDown, 250);
document.documentElement.classList.add("scripted");
startNotify();
startKeys();
startRows();
if (document.getElementById("slider")) startTravel();
connect();
const missing = () => tell("lost", "the page did not load completely: reload it");
const may = (pages) => !("onlyShows" in body.dataset) && document.querySelector(pages);
const answers = !(body.dataset.role && body.dataset.role !== "approve");
if (answers && may("main.session, main.overview")) import("./answer.js").then((it) => it.startAnswers(), missing);
if (may("main.session")) import("./steer.js").then((it) => it.start(), missing);
