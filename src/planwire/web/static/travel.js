// Time travel: the slider, the chart above it and the activity beside it show the same moment.

import { fetched, latest } from "./fetching.js";
import { changed, morph } from "./page.js";

const slider = document.getElementById("slider");
const besides = matchMedia("(min-width: 68.75rem)"); // the activity has a column of its own

const show = latest(async () => {
  const address = `${slider.form.dataset.then}?moment=${slider.value}`;
  const got = await fetched(`${address}&part=then`, "then");
  if (!got?.part) return location.assign(address); // a page of its own says what is wrong
  morph(document.getElementById("then"), got.part);
  history.replaceState(null, "", address);
  changed();
});

function goTo(moment) {
  slider.value = moment;
  const x = (slider.value / Math.max(slider.max, 1)) * 640, line = document.getElementById("chart-at");
  line?.setAttribute("points", `${x},0 ${x},96`);
  document.querySelector(".moment-links [aria-current]")?.removeAttribute("aria-current");
  const link = document.querySelector(`[data-moment="${slider.value}"]`);
  link?.setAttribute("aria-current", "true");
  if (besides.matches) link?.closest(".moment").scrollIntoView({ block: "nearest" });
  show();
}

export function startTravel() {
  slider.addEventListener("input", () => goTo(slider.value));
  document.querySelector(".chart")?.addEventListener("click", (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    goTo(Math.round(((event.clientX - left) / width) * slider.max));
  });
  document.querySelector(".moments").addEventListener("click", (event) => {
    const link = event.target.closest("[data-moment]");
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    goTo(link.dataset.moment);
    if (!besides.matches) document.querySelector(".travel").scrollIntoView();
  });
}
