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

export function showTimes(within = document) {
  for (const time of within.querySelectorAll("time")) {
    const then = new Date(time.dateTime);
    const words = (SHOWN[time.dataset.show] ?? ago)(then);
    if (time.textContent !== words) time.textContent = words;
    if (time.title.endsWith("UTC")) time.title = clock.format(then);
  }
}
