// Desktop notifications on request: an agent needs a person, has stopped or is done. They come from this page alone,
// so a hidden page keeps listening; a browser has few connections to spare, so only a few pages do.

const KEY = "planwire-notify";
const MOST_PAGES = 3;

const words = {
  done: () => "Everything on the plan is done.",
  stopped: () => "The agent has stopped.",
  idle: () => "The agent has ended its turn.",
  needs_you: (asked) => asked ?? "A decision is needed",
};

let wanted = false;
let letGo = null; // gives back the place among the pages that go on listening
const known = new Map(); // each session's state, and what it has asked so far: each question is told once
let hasLooked = false; // what is new from now on may need a person

/** Whether this page goes on listening while it is hidden. */
export const keepsListening = () => wanted && letGo !== null;

async function takePlace() {
  for (let place = 0; place < MOST_PAGES && !letGo; place++) {
    await new Promise((decided) => {
      navigator.locks.request(`${KEY}-${place}`, { ifAvailable: true }, (lock) => {
        decided();
        return lock ? new Promise((release) => { letGo = release; }) : null;
      });
    });
  }
}

/** What is going on: the sessions on the page, each with its address (one tag, so that of several pages with the same
    news the browser shows one), its name, its state, and what it needs; first what needs a decision. */
function sessions() {
  const top = document.getElementById("session-top");
  if (top) {
    const { state, asked, question } = top.dataset;
    return [[location.pathname, top.querySelector("h1").textContent, state, asked, question]];
  }
  const rows = [...document.querySelectorAll(".session-row:not([data-my-gone])")];
  const all = rows.map((row) => {
    const link = row.querySelector(".session-link"), { status, asked, question } = row.dataset;
    return [link.pathname, link.textContent, status, asked, question];
  });
  return all.sort(([, , one], [, , other]) => (other === "needs_you") - (one === "needs_you"));
}

/** Look at what changed, and notify of it if the person is looking elsewhere. */
export function lookForNews() {
  if (!wanted) return;
  for (const [id, name, state, asked, question] of sessions()) {
    const before = known.get(id);
    const asks = state === "needs_you" ? (question ?? "").split(" ").filter(Boolean) : [];
    known.set(id, { state, asks: new Set([...(before?.asks ?? []), ...asks]) });
    const isFirst = !before && (!hasLooked || state !== "needs_you");
    const isNews = asks.length ? asks.some((each) => !before?.asks.has(each)) : before?.state !== state;
    if (isFirst || !isNews || !words[state]) continue;
    if (document.hidden || !document.hasFocus()) {
      const notice = new Notification(name, { body: words[state](asked), tag: `planwire ${id}` });
      notice.onclick = () => { window.focus(); notice.close(); };
    }
  }
  hasLooked = true;
}

export function startNotify() {
  const bar = document.querySelector(".bar");
  if (!document.body.dataset.live || !("Notification" in window) || !navigator.locks) return;
  const button = document.createElement("button");
  button.type = "button";
  button.id = "notify";
  button.textContent = "Notify me";
  button.title = "Get a desktop notification when an agent needs a decision, has stopped or is done";

  async function turn(on) {
    wanted = on;
    localStorage.setItem(KEY, on ? "on" : "off");
    button.setAttribute("aria-pressed", on);
    known.clear();
    hasLooked = false;
    if (on) {
      lookForNews();
      await takePlace();
    } else {
      letGo?.();
      letGo = null;
    }
  }

  button.addEventListener("click", async () => {
    if (!wanted && (await Notification.requestPermission()) !== "granted") {
      button.textContent = "Notifications are blocked in this browser";
      return;
    }
    turn(!wanted);
  });
  button.setAttribute("aria-pressed", "false");
  bar.append(button);
  if (localStorage.getItem(KEY) === "on" && Notification.permission === "granted") turn(true);
}
