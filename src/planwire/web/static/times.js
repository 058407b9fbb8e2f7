// Ages that stay true, with the exact time in the reader's own zone under the pointer; and exact times where two moments
// are compared.

const units = [["min", 6e4, 60], ["h", 36e5, 48], ["d", 864e5, Infinity]];
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

const today = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const someDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The time of day, with the day if it is another one. */
const timeOfDay = (then) => (then.toDateString() === new Date().toDateString() ? today : someDay).format(then);
const SHOWN = { clock: (then) => clock.format(then), day: timeOfDay, span: (then) => span(then) ?? "a moment", life };

/** How long it has been; null if that is less than a minute. */
function span(then) {
  const passed = Date.now() - then;
  if (passed < 6e4) return null;
  const [unit, size] = units.find(([, size, most]) => passed / size < most);
  return `${Math.floor(passed / size)} ${unit}`;
}

function ago(then) {
  const passed = span(then);
  return passed ? `${passed} ago` : "just now";
}

/** The last sign of life, to the second while it is new. */
function life(then) {
  const passed = Date.now() - then;
  return passed < 6e4 ? `${Math.max(Math.floor(passed / 1e3), 0)} s ago` : ago(then);
}

/** Keep the last signs of life true. */
export function showLife() {
  for (const time of document.querySelectorAll('time[data-show="life"]')) {
    const words = life(new Date(time.dateTime));
    if (time.textContent !== words) time.textContent = words;
  }
}

const firstSeen = new WeakMap(); // when this page first showed each pending verdict

/** Count down to the moment when a verdict is sent, for the person who gave it. Clocks may differ: nobody sees more than
 * the whole delay. */
export function countDown() {
  for (const node of document.querySelectorAll("[data-until]")) {
    const { until, delay } = node.dataset, seen = firstSeen.get(node);
    if (seen?.until !== until) firstSeen.set(node, { until, at: performance.now() });
    const shown = delay - (performance.now() - firstSeen.get(node).at);
    const words = `${Math.ceil(Math.max(0, Math.min(until - Date.now(), shown)) / 1e3)} s`;
    if (node.textContent !== words) node.textContent = words;
  }
  const { person } = document.body.dataset;
  for (const node of document.querySelectorAll("[data-pending]")) {
    node.toggleAttribute("data-my-others", Boolean(person) && node.dataset.pending !== person);
  }
}

export function showTimes(within = document) {
  for (const time of within.querySelectorAll("time")) {
    const then = new Date(time.dateTime);
    const words = (SHOWN[time.dataset.show] ?? ago)(then);
    if (time.textContent !== words) time.textContent = words;
    if (time.title.endsWith("UTC")) time.title = clock.format(then);
  }
}
