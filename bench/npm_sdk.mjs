// The npm SDK on the same lines, timed as in race.py: short laps in turn, the quickest of each counts.
// In (stdin): {folder, seconds, lines}. Out: {microseconds, decoded, encoded}, the latter two as a proof of work.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const LAP_NS = 1e6;
const { folder, seconds, lines } = JSON.parse(readFileSync(0, "utf8"));

// The validators are no entry point of their own. These are the ones that the entry point's connection calls.
const entry = createRequire(join(folder, "package.json")).resolve("@agentclientprotocol/sdk/unstable");
const { zSessionNotification } = await import(new URL("./schema/zod.gen.js", pathToFileURL(entry)));

const decode = (line) => zSessionNotification.parse(JSON.parse(line).params);
const encode = (message) => JSON.stringify(message);

const contenders = [];
const decoded = {};
const encoded = {};
for (const [name, line] of Object.entries(lines)) {
  const message = { jsonrpc: "2.0", method: "session/update", params: decode(line) };
  decoded[name] = message.params.update;
  encoded[name] = encode(message);
  contenders.push({ name: `decode_${name}`, call: decode, argument: line });
  contenders.push({ name: `encode_${name}`, call: encode, argument: message });
}

let sink = 0; // results are used, or the compiler may leave the work out

function lap({ call, argument }, times) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) sink += call(argument) ? 1 : 0;
  return Number(process.hrtime.bigint() - start);
}

function round() {
  for (const contender of contenders) {
    const each = lap(contender, contender.times) / contender.times;
    contender.best = Math.min(contender.best, each);
    contender.times = Math.max(1, Math.round(LAP_NS / each));
  }
}

for (const contender of contenders) Object.assign(contender, { times: 1, best: Infinity });
const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
while (process.hrtime.bigint() < end) round();

const microseconds = Object.fromEntries(contenders.map(({ name, best }) => [name, best / 1e3]));
console.log(JSON.stringify({ microseconds, decoded, encoded, sink }));
