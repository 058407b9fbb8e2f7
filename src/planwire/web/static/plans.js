// Plans and their steps, as they stand on the page.

export const planOf = (node) => node?.closest?.("[data-steer]") ?? null;
export const rowsOf = (plan) => [...plan.querySelectorAll("[data-step]")];
export const rowBy = (planId, step) => document.getElementById(`${planId}-${step}`);
export const revisionOf = (plan) => Number(document.getElementById(`${plan.id}-at`).dataset.revision);
export const planName = (plan) => plan.querySelector("h2").textContent;

/** Give the focus to something that need not be able to have it by itself. */
export function focusOn(node) {
  if (!node.hasAttribute("tabindex") && node.tabIndex < 0) node.tabIndex = -1;
  node.focus({ preventScroll: true });
}

/** Give the focus to a step, or to its plan if the step is not there. */
export function focusStep(planId, step) {
  const plan = document.getElementById(planId);
  if (plan) focusOn((step && rowBy(planId, step)) || plan.querySelector("h2"));
}

/** The row of a step that can be changed. */
export function rowOf(node) {
  const row = node?.closest?.("[data-step]") ?? null;
  return row && planOf(row)?.dataset.edit ? row : null;
}

/** The step that stands before those in sight of a long plan; null if the first one is in sight. */
export function stepAbove(plan) {
  const link = document.querySelector(`#${plan.id}-above > a`);
  return link ? link.hash.slice(plan.id.length + 2) : null;
}

// The statuses to offer, from the server's table: by the look of a row, the tick first, and those with a key of their
// own. An offer is [label, key, status, look of that status].
const statuses = JSON.parse(document.body.dataset.statuses);
export const offersOf = (row) => statuses.menus[row.dataset.status];
export const statusKeys = statuses.keys;

export const isWhole = (plan) => !plan.querySelector(":scope .gap");

/** Words as they were written: what is shown as code was written between backticks. */
export function writtenIn(node) {
  const written = (each) => (each.nodeName === "CODE" ? `\`${each.textContent}\`` : each.textContent);
  return [...node.childNodes].map(written).join("");
}

/** The words of a step as they were written. */
export const textOf = (row) => row.dataset.text ?? writtenIn(row.querySelector(".words"));

export function short(text, most = 60) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

export const nameOf = (row) => `“${short(textOf(row))}”`;

/** An element with its attributes and children. Texts become text, never HTML. */
export function el(tag, values = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const said = el("p", { class: "unseen", role: "status" });

/** Say something to those who can't see what happened. */
export function say(words) {
  if (!said.isConnected) document.body.append(said);
  said.textContent = words;
}
