// The board's script. Pages are complete without it: it keeps them live and makes a few things handier. On the page of a
// session it loads the scripts for steering.

import { keepsListening, lookForNews, startNotify } from "./notify.js";
import { changed, forget, morph, onChanged, show, trusted } from "./page.js";
import { showTimes } from "./times.js";

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

function tell(state, words) {
  if (connection.dataset.state === state) return;
  connection.dataset.state = state;
  connection.textContent = words;
}

function connect() {
  if (source || (document.hidden && !keepsListening()) || !body.dataset.live) return;
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

// A browser has few connections to spare: a page that nobody sees lets go of its own, unless it is to tell of news.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) connect();
  else if (!keepsListening()) disconnect();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", connect);

// ---------------------------------------------------------------- searching, the slider, copying

async function fetched(address, id) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(trusted(await answer.text()), "text/html");
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
  forget();
  history.replaceState(null, "", address);
  body.dataset.live = got.page.body.dataset.live;
  version = got.page.body.dataset.version;
  morph(document.getElementById("content"), got.part);
  changed();
  connect();
});

const slide = latest(async () => {
  const slider = document.getElementById("slider");
  const address = `${slider.form.dataset.then}?moment=${slider.value}`;
  const got = await fetched(`${address}&part=then`, "then");
  if (!got?.part) return;
  morph(document.getElementById("then"), got.part);
  history.replaceState(null, "", address);
  changed();
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
const STOPS = `.session-link, ${PLANS}, [data-steer] [data-step], .moment-links a:first-child`;

/** j and k walk through the sessions, or through plans and their steps; n and p from plan to plan. */
function walk(by, selector) {
  const active = document.activeElement;
  const here = active?.closest(selector) ?? active?.closest(".plan")?.querySelector("h2");
  const stops = [...document.querySelectorAll(selector)];
  const next = stops[Math.min(Math.max(stops.indexOf(here) + by, 0), stops.length - 1)];
  if (next && !next.hasAttribute("href") && !next.hasAttribute("tabindex")) next.tabIndex = -1;
  next?.focus();
}

showTimes();
onChanged(showTimes);
onChanged(announce);
onChanged(lookForNews);
setInterval(showTimes, 5000);
startNotify();
connect();
document.documentElement.classList.add("scripted");
if (document.querySelector("main.session")) {
  const missing = () => tell("lost", "not all of the page came: load it again");
  import("./steer.js").then((steering) => steering.start(), missing);
}
