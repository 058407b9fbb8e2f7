// A client on npm's official SDK: starts the agent in its arguments, prompts it once, prints what it gets, and ends.
// Usage: node sdk_client.mjs FOLDER AGENT [ARGUMENT ...], where FOLDER has the SDK in its node_modules.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [folder, command, ...rest] = process.argv.slice(2);
const entry = createRequire(join(folder, "package.json")).resolve("@agentclientprotocol/sdk/unstable");
const acp = await import(pathToFileURL(entry));
const agent = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

const app = acp
  .client()
  .onNotification("session/update", ({ params }) => console.log(JSON.stringify(params.update)))
  .onRequest("session/request_permission", ({ params }) => {
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  });
await app.connectWith(stream, async (connection) => {
  const clientInfo = { name: "npm-sdk", title: "npm SDK", version: "2.4.0" };
  await connection.request("initialize", { protocolVersion: 1, clientCapabilities: { plan: {} }, clientInfo });
  const { sessionId } = await connection.request("session/new", { cwd: "/", mcpServers: [] });
  await connection.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Plan." }] });
});
agent.stdin.end();
