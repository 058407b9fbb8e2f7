// Ages that stay true, with the exact time in the reader's own zone under the pointer; and exact times where two moments
// are compared.

const units = [["min", 6e4, 60], ["h", 36e5, 48], ["d", 864e5, Infinity]];
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function ago(then) {
  const passed = Date.now() - then;
  if (passed < 6e4) return "just now";
  const [unit, size] = units.find(([, size, most]) => passed / size < most);
  return `${Math.floor(passed / size)} ${unit} ago`;
}

export function showTimes(within = document) {
  for (const time of within.querySelectorAll("time")) {
    const then = new Date(time.dateTime);
    const words = time.dataset.show === "clock" ? clock.format(then) : ago(then);
    if (time.textContent !== words) time.textContent = words;
    if (time.title.endsWith("UTC")) time.title = clock.format(then);
  }
}
