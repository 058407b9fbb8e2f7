// Answers to agents' questions, wherever a page shows one. A button holds the act that it sends; the words beside it go
// along. They are kept until they are sent, through changes and reloads of the page. If the question is over before
// that, the person decides what happens to them.

import { onChanged } from "./page.js";
import { perform, sayUnsent } from "./perform.js";
import { decides, person } from "./plans.js";
import { toast } from "./toasts.js";
import { startUnseen } from "./unseen.js";
import { editPlan } from "./writing.js";

const FORM = "form.answer-form";
const KEPT = `planwire answer ${person}`;
const keyOf = (form) => KEPT + form.dataset.answer;
const written = new Set(); // the plans with words on this page that are not sent, by key
const left = new Map(); // those whose question is over, with what asks the person about the words

const sending = new Set();

/** What else goes with an answer: `of(form)` is added to its request, `sent(form)` is called once it went out, and
 * `back(form)` if the person undoes it. */
let more = { of: () => ({}), sent: () => {}, back: () => {} };

const undoable = new Map(); // the words of the last answers, by key: they come back with an undo

export const sendWithAnswers = (given) => { more = given; };

/** The form that answers a question about a plan; null if there is none, or this person does not decide. */
export const answerOf = (plan) => (decides ? plan.querySelector(FORM) : null);

/** The agent's or planwire's own words on a button, without what it adds. */
const labelOf = (button) => (button.querySelector(":scope > span") ?? button).firstChild?.textContent ?? "";

async function send(button) {
  const form = button.closest(FORM), { seen, answer: address } = form.dataset;
  if (form.hasAttribute("aria-busy")) return;
  const key = keyOf(form), text = form.querySelector("textarea").value.trim(), isBare = button.dataset.bare !== undefined;
  const said = isBare ? {} : { ...(text ? { text } : {}), ...more.of(form) };
  busy(form, true);
  sending.add(key);
  const body = { seen: Number(seen), ...JSON.parse(button.dataset.send), ...said };
  const came = await perform({ address, body, words: labelOf(button), ...(said.text ? { text } : {}), isAnswer: true });
  busy(form, false);
  sending.delete(key);
  if (!came.done) return came.edit ? form.querySelector("textarea").focus() : show();
  if (!isBare) forget(form, key, said.text);
  else if (body.act === "withdraw") bringBack(form, key);
  show();
}

/** Give the person the words back that went with an answer which they have undone. */
function bringBack(form, key) {
  const text = undoable.get(key), now = [...document.querySelectorAll(FORM)].find((each) => keyOf(each) === key) ?? form;
  undoable.delete(key);
  if (text && !sessionStorage.getItem(key)) keep(now, text);
  more.back(now);
}

/** Let the person edit the plan, and approve it as they leave it. The words beside the button go along, as with any
 * answer. */
async function edit(button) {
  const form = button.closest(FORM), { answer: address } = form.dataset, key = keyOf(form);
  if (form.hasAttribute("aria-busy")) return;
  const plan = await planAt(address), act = JSON.parse(button.dataset.send);
  if (!plan) return toast("Couldn't load the text of the plan. Try again.");
  if (plan.question?.id !== act.question) return toast("The agent's question is over.");
  const words = `${labelOf(button)}: ${plan.title}`;
  const submit = async (edited, seen, trouble) => {
    const text = sessionStorage.getItem(key)?.trim();
    const body = { ...act, seen, ...(text ? { text } : {}), ...more.of(form), edited };
    sending.add(key);
    const came = await perform({ address, body, words, text: edited, trouble, isAnswer: true });
    sending.delete(key);
    if (came.done) forget(form, key, text);
    show();
    return came;
  };
  editPlan({ key: `${address} ${act.question}`, title: words, text: plan.text, seen: plan.revision, submit });
}

function forget(form, key, text) {
  undoable.set(key, text);
  drop(key);
  form.querySelector("textarea").value = "";
  more.sent(form);
}

function busy(form, is) {
  if (is) form.setAttribute("aria-busy", "true");
  else form.removeAttribute("aria-busy");
  for (const each of form.querySelectorAll("button")) each.ariaDisabled = is ? "true" : null; // it keeps the focus
}

function keep(form, text) {
  written.add(keyOf(form));
  sessionStorage.setItem(keyOf(form), text);
}

function drop(key) {
  written.delete(key);
  sessionStorage.removeItem(key);
}

/** Bring back what was written, and look for words whose question is gone. */
function show() {
  const shown = new Set();
  for (const form of document.querySelectorAll(FORM)) {
    const key = keyOf(form), area = form.querySelector("textarea"), kept = sessionStorage.getItem(key);
    if (kept && !area.value) area.value = kept;
    if (kept) written.add(key);
    shown.add(key);
    left.get(key)?.box?.remove();
    left.delete(key);
  }
  for (const key of written) if (!shown.has(key) && !left.has(key)) offer(key);
}

/** The plan with its text and its question; null if it can't be loaded. */
const planAt = async (address) => {
  const answer = await fetch(address, { headers: { accept: "application/json" } }).catch(() => null);
  return answer?.ok ? answer.json() : null;
};

const isAsked = async (address) => {
  const plan = await planAt(address);
  return !plan || Boolean(plan.question?.open);
};

/** Ask what to do with words whose question is over. The question may only be out of sight, or the words may be on
 * their way. */
async function offer(key) {
  const address = key.slice(KEPT.length), asking = {};
  left.set(key, asking);
  const isOpen = sending.has(key) || (await isAsked(address)), text = sessionStorage.getItem(key)?.trim();
  if (left.get(key) !== asking) return;
  if (isOpen || sending.has(key) || !text) return void left.delete(key);
  const { box, decided } = sayUnsent("The question is over. Your words were not sent.", text, WORDS_LEFT);
  asking.box = box;
  const isComment = await decided;
  left.delete(key);
  drop(key);
  if (isComment) perform({ address, body: { act: "comment", text }, words: "Comment" });
}

const WORDS_LEFT = [{ label: "Send as a comment", value: true, kind: "primary" }, { label: "Discard", value: false }];

export function startAnswers() {
  startUnseen();
  document.addEventListener("click", (event) => {
    const button = event.target.closest(`${FORM} [data-send]`);
    if (button) button.dataset.edits === undefined ? send(button) : edit(button);
  });
  document.addEventListener("submit", (event) => { if (event.target.matches(FORM)) event.preventDefault(); });
  document.addEventListener("input", (event) => {
    const form = event.target.closest(FORM);
    if (form) keep(form, event.target.value);
  });
  onChanged(show);
  show();
  document.documentElement.classList.add("answering"); // the buttons can be pressed from here on
}
