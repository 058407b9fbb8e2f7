// Times in the reader's own zone, and ages that stay true.

const units = [["s", 1e3, 60], ["min", 6e4, 60], ["h", 36e5, 48], ["d", 864e5, Infinity]];
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function ago(then) {
  const passed = Math.max(Date.now() - then, 0);
  const [unit, size] = units.find(([, size, most]) => passed / size < most);
  const count = Math.floor(passed / size);
  return count ? `${count} ${unit} ago` : "now";
}

export function showTimes(within = document) {
  for (const time of within.querySelectorAll("time[data-show]")) {
    const then = new Date(time.dateTime);
    const words = time.dataset.show === "ago" ? ago(then) : clock.format(then);
    if (time.textContent !== words) time.textContent = words;
    if (!time.title) time.title = clock.format(then);
  }
}
