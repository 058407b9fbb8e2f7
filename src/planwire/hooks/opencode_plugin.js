// planwire for opencode: tells planwire what happens in a session, and the model what people say about its plan.
//
// `planwire setup opencode` writes this file, with the commands below. Each takes one JSON object on its standard input,
// and may print one:
//
//   {"agent": "opencode", "event": NAME, "session_id": ID, "cwd": FOLDER, …}   →   {"text": …} or {"deny": …}
//
// with `child_id` and `child_kind` for a sub-agent (its session has a parent), `call_id`, `tool`, `arguments` and
// `result` for a call of a tool, and `prompt`, `title`, `plan_path`, `source`, `reason` where an event has them.
//
// Whatever is wrong, opencode must not notice: nothing here throws, except to send a plan back with a person's words,
// and no command is waited for longer than its time. Nothing is imported before it is needed.

const COMMANDS = __COMMANDS__;

const SECONDS = { record: 5, call: 5, news: 10, tell: 10, ask: 600 };
const OWN_TOOL = /^planwire_(set|update|get|remove)_plan$/;
const PLAN_TOOLS = ["todowrite", "plan_exit"];
const WRITERS = ["write", "edit"];
const PLAN_FILE = /[\\/](?:\.?opencode)[\\/]plans[\\/][^\\/]+\.md$/;
const UNTITLED = /^(New session|Child session) - /;
const MOST_SESSIONS = 1000;

async function run(role, payload) {
  const command = COMMANDS[role];
  if (!command) return {};
  try {
    const { spawn } = await import("node:child_process");
    const printed = await new Promise((resolve) => {
      const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      const pieces = [];
      const timer = setTimeout(() => {
        child.kill();
        resolve("");
      }, SECONDS[role] * 1000);
      const done = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      child.on("error", () => done(""));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (piece) => pieces.push(piece));
      child.on("close", () => done(Buffer.concat(pieces).toString("utf8")));
      child.stdin.end(JSON.stringify(payload));
    });
    const answer = printed.trim() ? JSON.parse(printed) : {};
    return answer && typeof answer === "object" ? answer : {};
  } catch {
    return {};
  }
}

export const Planwire = async ({ client, directory }) => {
  // What is known of the sessions of this process, by id: the parent, the title, the file of its plan, …
  const sessions = new Map();

  function noted(id, info) {
    let session = sessions.get(id);
    if (!session) {
      session = { isNew: false, isOver: false, last: Promise.resolve() };
      sessions.set(id, session);
      if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value);
    }
    if (info) {
      session.isAsked = true;
      if (info.parentID) session.parent = info.parentID;
      if (info.agent) session.kind = info.agent;
    }
    return session;
  }

  // A session that began before this process did: only opencode knows whose child it is.
  async function known(id) {
    const session = noted(id);
    if (!session.isAsked) {
      session.isAsked = true;
      try {
        const late = new Promise((resolve) => setTimeout(resolve, 1000).unref?.());
        const found = await Promise.race([client.session.get({ path: { id } }), late]);
        if (found?.data) noted(id, found.data);
      } catch {}
    }
    return session;
  }

  function root(id) {
    for (let steps = 0; steps < 16 && sessions.get(id)?.parent; steps++) id = sessions.get(id).parent;
    return id;
  }

  // Commands about one session run one after another, so that planwire hears of things in their order.
  async function say(role, event, id, fields) {
    if (typeof id !== "string") return {};
    const session = await known(id);
    const top = root(id);
    const child = top === id ? {} : { child_id: id, child_kind: session.kind || "" };
    const payload = { agent: "opencode", event, session_id: top, cwd: directory, ...child, ...fields };
    const answer = session.last.then(() => run(role, payload));
    // Nothing waits for a person: what ends their question is heard meanwhile.
    if (role !== "ask") session.last = answer;
    return answer;
  }

  const text = (answer) => (typeof answer.text === "string" && answer.text ? answer.text : "");

  // Nothing that goes wrong in here may reach opencode; only `SentBack` does.
  class SentBack extends Error {}
  const harmless = (hook) => async (input, output) => {
    try {
      await hook(input, output);
    } catch (error) {
      if (error instanceof SentBack) throw error;
    }
  };

  const EVENTS = {
    "session.created": async ({ info }) => {
      noted(info.id, info).isNew = true;
      await say("record", "session.created", info.id, { source: "startup" });
    },
    "session.updated": async ({ info }) => {
      const session = noted(info.id, info);
      if (!info.title || info.title === session.title || UNTITLED.test(info.title)) return;
      session.title = info.title;
      if (!session.parent) await say("record", "session.updated", info.id, { title: info.title });
    },
    "session.compacted": async ({ sessionID }) => {
      noted(sessionID).isCompacted = true;
      await say("record", "session.compacted", sessionID, {});
    },
    // A turn ends once: with an error by its name, and the idleness around it says nothing more.
    "session.error": async ({ sessionID, error }) => {
      if (!sessionID) return;
      noted(sessionID).isOver = true;
      await say("record", "session.error", sessionID, { reason: String(error?.name || "") });
    },
    "session.idle": async ({ sessionID }) => {
      const session = noted(sessionID);
      if (session.isOver) return;
      session.isOver = true;
      await say("record", "session.idle", sessionID, {});
    },
    "session.deleted": async ({ info }) => {
      await say("record", "session.deleted", info.id, { reason: "deleted" });
      sessions.delete(info.id);
    },
  };

  return {
    event: harmless(async ({ event }) => {
      await EVENTS[event.type]?.(event.properties);
    }),

    "chat.message": harmless(async (input, output) => {
      const session = noted(input.sessionID);
      session.isOver = false;
      if (input.agent || output.message?.agent) session.kind = input.agent || output.message.agent;
      const written = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
      const source = session.isNew || session.isSeen ? {} : { source: "resume" };
      session.isSeen = true;
      const told = text(
        await say("tell", "chat.message", input.sessionID, { prompt: written.join("\n").slice(0, 2000), ...source }),
      );
      if (!told) return;
      const like = output.parts.find((part) => part.type === "text");
      const id = `prt_${Date.now().toString(16)}${Math.random().toString(16).slice(2, 14)}`;
      const messageID = like?.messageID || output.message?.id;
      output.parts.push({ id, messageID, sessionID: input.sessionID, type: "text", text: told, synthetic: true });
    }),

    "tool.execute.before": harmless(async (input, output) => {
      const call = { call_id: input.callID, tool: input.tool };
      if (OWN_TOOL.test(input.tool)) {
        await say("call", "tool.execute.before", input.sessionID, { ...call, arguments: output.args });
      } else if (input.tool === "plan_exit") {
        const role = COMMANDS.ask ? "ask" : "record";
        const plan = { plan_path: noted(input.sessionID).planPath };
        const answer = await say(role, "tool.execute.before", input.sessionID, { ...call, ...plan });
        if (role === "ask" && typeof answer.deny === "string" && answer.deny) throw new SentBack(answer.deny);
      }
    }),

    "tool.execute.after": harmless(async (input, output) => {
      const call = { call_id: input.callID, tool: input.tool };
      const path = WRITERS.includes(input.tool) ? input.args?.filePath : undefined;
      const isDraft = typeof path === "string" && PLAN_FILE.test(path);
      if (isDraft) noted(input.sessionID).planPath = path;
      const isPlan = isDraft || PLAN_TOOLS.includes(input.tool) || OWN_TOOL.test(input.tool);
      const more = isPlan ? { arguments: input.args, result: { output: output.output } } : {};
      const role = isPlan || !COMMANDS.news ? "tell" : "news";
      const told = text(await say(role, "tool.execute.after", input.sessionID, { ...call, ...more }));
      if (!told) return;
      if (typeof output.output === "string") output.output += `\n\n${told}`;
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: told });
    }),

    // After a compaction no message of a person's may come for long, so the plan stands in the system prompt: as it was
    // then, until the next compaction. What changes later is told with prompts and results.
    "experimental.chat.system.transform": harmless(async (input, output) => {
      const session = sessions.get(input.sessionID);
      if (!session) return;
      if (session.isCompacted) {
        session.isCompacted = false;
        session.retold = text(await say("tell", "system.transform", input.sessionID, {}));
      }
      if (session.retold) output.system.push(session.retold);
    }),
  };
};
