// Parts of other pages.

import { trusted } from "./page.js";

/** The page at an address, and the part of it with an id; null if there is none. */
export async function fetched(address, id) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(trusted(await answer.text()), "text/html");
  return { page, part: page.getElementById(id) };
}

/** Call it as often as you like: one runs at a time, and the last call is never lost. */
export function latest(work) {
  let running = null, wanted = false;
  return async function run() {
    if (running) { wanted = true; return; }
    running = work();
    try { await running; } catch { /* the connection is told of elsewhere */ }
    running = null;
    if (wanted) { wanted = false; run(); }
  };
}
