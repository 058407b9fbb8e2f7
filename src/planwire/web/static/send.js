// Requests to the board. Those for a plan go one after the other.
//
// Each act has a name of its own. A request with an uncertain outcome can go out again under the same name: the board
// writes nothing twice, and gives the first answer again, even after a restart.

import { person } from "./plans.js";

const PATIENCE = 20_000;
const NO_CONNECTION = "there is no connection to the board. Try again when it is back.";
/** Says whose page it is: somebody else may have signed in since, in another tab. */
const OF_PAGE = person ? `?${new URLSearchParams({ person })}` : "";
// Without encryption a cookie is for one path, and the next one has another: it is never sent from this page.
const LOCKED = person && location.protocol === "https:"
  ? "you are signed out. Sign in in another tab, then try again here."
  : person
    ? "you are signed out. Copy unsent words, then reload the page to sign in."
    : "the board was restarted. Copy unsent words, then open the link it printed.";

const queues = new Map();

/** A name for an act. */
export const newName = () => `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

/**
 * Send an act after those before it. Resolves to its outcome: `done`, `moved`,
 * `interrupt`, `options`, `refused` or `lost`.
 */
export function send(address, body, name) {
  const before = queues.get(address) ?? Promise.resolve();
  const sent = before.then(() => attempt(address, body, name));
  queues.set(address, sent);
  return sent;
}

async function attempt(address, body, name) {
  try {
    const answer = await fetch(`${address}/acts${OF_PAGE}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "idempotency-key": name },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return outcome(answer.status, isJson ? await answer.json() : {});
  } catch {
    return { lost: NO_CONNECTION };
  }
}

function outcome(status, said) {
  if (status === 200) return { done: said };
  if (status === 409 && said.interrupt) return { interrupt: true };
  if (status === 409 && said.options) return { options: said.options };
  if (status === 409) return { moved: said };
  if (status === 401) return { lost: LOCKED };
  if (status >= 500) return { lost: said.error ?? `error ${status}` };
  return { refused: said.error ?? `error ${status}` };
}
