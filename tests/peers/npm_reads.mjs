// What the npm SDK makes of notifications. In (stdin): {folder, lines: {version: [line, …]}}.
// Out: {version: [update or null, …]}; null is a notification that the SDK refuses.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ENTRIES = {
  1: ["@agentclientprotocol/sdk/unstable", "zSessionNotification"],
  2: ["@agentclientprotocol/sdk/experimental/v2/unstable", "zUpdateSessionNotification"],
};
const { folder, lines } = JSON.parse(readFileSync(0, "utf8"));
const { resolve } = createRequire(join(folder, "package.json"));
const read = {};
for (const [version, [entry, name]] of Object.entries(ENTRIES)) {
  const schema = await import(new URL("./schema/zod.gen.js", pathToFileURL(resolve(entry))));
  read[version] = lines[version].map((line) => {
    const { success, data } = schema[name].safeParse(JSON.parse(line).params);
    return success ? data.update : null;
  });
}
console.log(JSON.stringify(read));
