// Calls the functions of planwire's file for opencode as opencode does: `node opencode_host.mjs FILE`, with a list of
// calls as JSON on standard input. Prints what each left behind, or the words with which it threw.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const module = await import(pathToFileURL(process.argv[2]).href);
const client = { session: { get: async ({ path }) => ({ data: { id: path.id, parentID: path.id.split("<")[1] } }) } };
const [start] = Object.values(module);
const hooks = await start({ client, directory: "/home/user/project" });
const results = [];
for (const { name, input, output } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    await hooks[name](input, output);
    results.push(output ?? null);
  } catch (error) {
    results.push({ threw: error.message });
  }
}
console.log(JSON.stringify({ exports: Object.keys(module), results }));
