// Where the newer Node is that has come from the registry. ACP_SESSIONS_NODE says where there is another one.

import { createRequire } from "node:module";

export function newerNode() {
  const name = `node-${process.platform}-${process.arch}/bin/node`;
  return process.env.ACP_SESSIONS_NODE ?? createRequire(new URL("node/package.json", import.meta.url)).resolve(name);
}
