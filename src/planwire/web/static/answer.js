// Answers to agents' questions, wherever a page shows one. A button holds the act that it sends; the words beside it go
// along. They are kept until they are sent, over changes and reloads of the page.

import { onChanged } from "./page.js";
import { perform } from "./perform.js";

const FORM = "form.answer-form";
const keyOf = (form) => `planwire answer ${form.dataset.answer}`;

/** What else goes with an answer: `of(form)` is a part of its request, and `sent(form)` hears that it went out. */
let more = { of: () => ({}), sent: () => {} };

export const sendWithAnswers = (given) => { more = given; };

/** The form that answers a question about a plan; null if nobody asks, or the answer is given elsewhere. */
export const answerOf = (plan) => plan.querySelector(FORM);

async function send(button) {
  const form = button.closest(FORM), { seen, answer: address } = form.dataset;
  if (form.hasAttribute("aria-busy")) return;
  const key = keyOf(form), text = form.querySelector("textarea").value.trim(), isBare = button.dataset.bare !== undefined;
  const said = isBare ? {} : { ...(text ? { text } : {}), ...more.of(form) };
  busy(form, true);
  const body = { seen: Number(seen), ...JSON.parse(button.dataset.send), ...said };
  const came = await perform({ address, body, words: button.textContent, ...(said.text ? { text } : {}), isAnswer: true });
  busy(form, false);
  if (!came.done) return came.edit && form.querySelector("textarea").focus();
  if (!isBare) forget(form, key);
}

function forget(form, key) {
  sessionStorage.removeItem(key);
  form.querySelector("textarea").value = "";
  more.sent(form);
}

function busy(form, is) {
  if (is) form.setAttribute("aria-busy", "true");
  else form.removeAttribute("aria-busy");
  for (const each of form.querySelectorAll("button")) each.disabled = is;
}

/** Bring back what was written. */
function show() {
  for (const form of document.querySelectorAll(FORM)) {
    const area = form.querySelector("textarea"), kept = sessionStorage.getItem(keyOf(form));
    if (kept && !area.value) area.value = kept;
  }
}

export function startAnswers() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest(`${FORM} [data-send]`);
    if (button) send(button);
  });
  document.addEventListener("submit", (event) => { if (event.target.matches(FORM)) event.preventDefault(); });
  document.addEventListener("input", (event) => {
    const form = event.target.closest(FORM);
    if (form) sessionStorage.setItem(keyOf(form), event.target.value);
  });
  onChanged(show);
  show();
  document.documentElement.classList.add("answering"); // the buttons can be pressed from here on
}
