// What people do, on its way to the board. Everything names the revision that they saw.
//
// Requests for a plan go one after the other. If one changes the plan, the next ones are about the plan with that
// change: they were made by the same person, who knows what they did. If it is not certain whether a request arrived,
// it may be sent again: a change that was written after all is then refused, since the plan has a newer revision, and
// is shown.

const PATIENCE = 20_000;
const NO_CONNECTION =
  "There is no connection to the board. Perhaps it was written all the same: if so, you see it when you try again.";
const LOCKED =
  "The board was started anew: open the address that it printed in another tab, then try again here.";

const own = new Map(); // address and revision → the revision that a change of this page made of it
const queues = new Map();

/** The revision that came of another one by nothing but changes of this page. */
export function newest(address, revision) {
  for (let next; (next = own.get(`${address} ${revision}`)) !== undefined;) revision = next;
  return revision;
}

/** Send something, after what was sent before. Resolves to what came of it: `done`, `moved`, `refused` or `lost`. */
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
