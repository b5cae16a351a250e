// Makes the bindings: the component's core modules and the JavaScript between them and our types, by jco; and what the SQL stores have of
// the program, the definitions of its tables. In `bindings/`.
//
// node scripts/bind.mjs [--component FILE] [--web FILE] [--jco MODULE] [--out FOLDER]

import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    component: { type: "string", default: join(here, "../../../target/component/acp-sessions.wasm") },
    web: { type: "string" },
    jco: { type: "string" },
    out: { type: "string", default: join(here, "../bindings") },
  },
});
const { transpile, types } = await import(options.jco ? pathToFileURL(options.jco) : "@bytecodealliance/jco");

/** Otherwise a string that begins with U+FEFF would lose it on its way. */
function keepingMarks(code) {
  const plain = /new TextDecoder(?:\(\)|(?=[,;]))/g;
  if (!plain.test(code)) throw new Error("the bindings have no plain TextDecoder: see whether they keep U+FEFF");
  return code.replaceAll(plain, "new TextDecoder('utf-8',{ignoreBOM:true})");
}

const SETTINGS = { name: "engine", instantiation: "async", nodejsCompat: false, noNodejsCompat: true, noTypescript: true, minify: true };
const bound = async (component) => (await transpile(await readFile(component), SETTINGS)).files;

const files = await bound(options.component);
// The same engine, built for the web: all but its own module is the same.
if (options.web) {
  const own = "engine.core.wasm";
  for (const [name, content] of Object.entries(await bound(options.web))) {
    if (name === own) files[`web/${own}`] = content;
    else if (!Buffer.from(content).equals(Buffer.from(files[name]))) throw new Error(`${name} is another for the web`);
  }
}
// Another version of jco is only measured.
const wit = join(here, "../../../wit");
const declared = options.jco ? {} : await types(wit, { worldName: "session-engine", instantiation: "async" });

/** What may be left out at the end, as a cursor for the first page, may be left out: jco has it as `undefined` that is to be given. */
function optionalAtTheEnd(name, text) {
  if (!name.endsWith("sessions-sessions.d.ts")) return text;
  const last = /^(export function .*\b\w+)(: [^,()]+ \| undefined\))/gm;
  if (!last.test(text)) throw new Error(`${name} declares no function with something to be left out: see how jco writes that now`);
  return text.replace(last, "$1?$2");
}

/** The steps that make the tables, in their order: 1.sql and so on. */
async function schema() {
  const folder = join(here, "../../../host/src/store/sqlite/schema");
  const count = (await readdir(folder)).filter((name) => name.endsWith(".sql")).length;
  return Promise.all(Array.from({ length: count }, (_, at) => readFile(join(folder, `${at + 1}.sql`), "utf8")));
}
if (!options.jco) files["schema.js"] = `export const STEPS = ${JSON.stringify(await schema(), null, 2)};\n`;

await rm(options.out, { recursive: true, force: true });
const all = [...Object.entries(files), ...Object.entries(declared).map(([name, text]) => [join("types", name), text])];
for (const [name, content] of all) {
  const path = join(options.out, name);
  await mkdir(dirname(path), { recursive: true });
  const text = () => Buffer.from(content).toString();
  if (name === "engine.js") await writeFile(path, keepingMarks(text()));
  else await writeFile(path, name.endsWith(".d.ts") ? optionalAtTheEnd(name, text()) : content);
}
