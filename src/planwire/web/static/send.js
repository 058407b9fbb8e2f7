// Requests to the board. Each names the revision that the person saw.
//
// Requests for a plan go one after the other. Once one has changed the plan, the next ones name the new revision: the
// same person made them and knows about the change. A request with an uncertain outcome can go out again: if the board
// wrote the change after all, it refuses the repetition, since the plan has a newer revision, and the page shows why.

const PATIENCE = 20_000;
const NO_CONNECTION =
  "There is no connection to the board. Perhaps it was written all the same: if so, you see it when you try again.";
const LOCKED =
  "The board was started anew: open the address that it printed in another tab, then try again here.";

const own = new Map(); // address and revision → the revision that a change of this page made of it
const queues = new Map();

/** The revision that changes of this page alone made of another one. */
export function newest(address, revision) {
  for (let next; (next = own.get(`${address} ${revision}`)) !== undefined;) revision = next;
  return revision;
}

/** Send a request after those before it. Resolves to its outcome: `done`, `moved`, `refused` or `lost`. */
export function send(act) {
  const before = queues.get(act.address) ?? Promise.resolve();
  const sent = before.then(() => attempt(act));
  queues.set(act.address, sent);
  return sent;
}

async function attempt({ address, path, revision, body }) {
  const wanted = revision === undefined ? body : { ...body, revision: newest(address, revision) };
  try {
    const answer = await fetch(`${address}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(wanted),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return outcome(address, answer.status, isJson ? await answer.json() : {});
  } catch {
    return { lost: NO_CONNECTION };
  }
}

function outcome(address, status, said) {
  if (status === 200) {
    if (said.revision !== said.from) own.set(`${address} ${said.from}`, said.revision);
    return { done: said };
  }
  if (status === 409) return { moved: said };
  if (status === 401) return { lost: LOCKED };
  if (status >= 500) return { lost: `The board could not write it: ${said.error ?? `error ${status}`}` };
  return { refused: said.error ?? `The board refused it: error ${status}.` };
}
