// Words about what just happened: in sight for a moment, and for those who can't see it.

import { el } from "./plans.js";

const SECONDS = 6;
const box = el("div", { class: "toast", role: "status" });
const said = el("p", { class: "unseen", role: "status" });
let leaving = 0;

/** Tell everyone the outcome of an act, in place of what was told before. */
export function toast(words) {
  if (!box.isConnected) document.body.append(box);
  box.textContent = words;
  clearTimeout(leaving);
  leaving = setTimeout(() => { box.textContent = ""; }, SECONDS * 1000);
}

/** Say something to those who can't see what happened. */
export function say(words) {
  if (!said.isConnected) document.body.append(said);
  said.textContent = words;
}
