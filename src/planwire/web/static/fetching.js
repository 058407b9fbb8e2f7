// Parts of other pages, and texts.

import { trusted } from "./page.js";

/** A page that was fetched, as a document of its own. */
export const pageOf = (text) => new DOMParser().parseFromString(trusted(text), "text/html");

/** The page at an address, and the part of it with an id; null if there is none. */
export async function fetched(address, id) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) return null;
  const page = pageOf(await answer.text());
  return { page, part: page.getElementById(id) };
}

/** The text at an address. A refusal is no text. */
export async function textAt(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

/** Call it as often as you like: one runs at a time, and the last call is never lost. */
export function latest(work) {
  let running = null, wanted = false;
  return async function run() {
    if (running) { wanted = true; return; }
    running = work();
    try { await running; } catch { /* a lost connection is reported elsewhere */ }
    running = null;
    if (wanted) { wanted = false; run(); }
  };
}
