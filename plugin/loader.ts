import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/*
 * The beginning of the bundled plugin, which tools/plugin.mjs writes: the file's other parts follow in one comment. A part is read,
 * compiled and run with the first import of it. V8's compiled code is kept in a file beside the plugin, for the next process of the same
 * Node.js: whoever can change that file can change the plugin itself. Without it, everything is compiled again. Node.js's compile cache
 * (22.1 or newer) and v8-compile-cache keep modules in files of their own: of a single file they would keep nothing.
 */

/** The file's other parts by name: the first byte, counted from the end of the file; the number of bytes; the digest of the text. */
declare const parts: Record<string, [fromEnd: number, length: number, digest: string]>;
/** The part to begin with. */
declare const first: string;
/** Replaces the end of a comment in a part. */
declare const commentEnd: string;

type Part = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: object },
  ...more: unknown[]
) => void;

const plugin = openSync(__filename, "r");
const end = fstatSync(plugin).size;
const kept = join(__dirname, `.pulumi-resource-consortium-${process.version}-${process.arch}`);
const digestBytes = 32;

/** Compiled code by the digest of the text: each in the file with its own digest before it. */
function readKept(): Map<string, Buffer> {
  try {
    const all = readFileSync(kept);
    const [index = "", at] = [all.toString("latin1", 0, all.indexOf("\n")), all.indexOf("\n") + 1];
    const places = Object.entries(JSON.parse(index) as Record<string, [number, number]>);
    return new Map(places.map(([digest, [from, to]]) => [digest, all.subarray(at + from, at + to)]));
  } catch {
    return new Map(); // nothing is kept yet, or of use
  }
}

const known = readKept();
const digestOf = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/** Compiled code, if it is intact: V8 does not check that. */
function compiled(digest: string): Buffer | undefined {
  const bytes = known.get(digest);
  const code = bytes?.subarray(digestBytes);
  return code && digestOf(code).equals(bytes!.subarray(0, digestBytes)) ? code : undefined;
}

const scripts = new Map<string, Script>();
let isNew = false;

function scriptOf(name: string): Script {
  const [fromEnd, length, digest] = parts[name]!;
  const bytes = Buffer.allocUnsafe(length);
  readSync(plugin, bytes, 0, length, end - fromEnd);
  const text = bytes.toString("utf8").replaceAll(commentEnd, "*/");
  const script = new Script(`(function(exports,require,module,__filename,keepCompiled){${text}\n})`, {
    filename: join(__filename, name),
    cachedData: compiled(digest),
  });
  isNew ||= script.cachedDataRejected !== false; // also where there was nothing
  scripts.set(digest, script);
  return script;
}

/** Keeps the code that is compiled by now, if any of it is new. */
function keepCompiled(): void {
  if (!isNew) return;
  const draft = `${kept}.${process.pid}`;
  try {
    accessSync(__dirname, constants.W_OK);
    for (const [digest, script] of scripts) {
      const code = script.createCachedData();
      known.set(digest, Buffer.concat([digestOf(code), code]));
    }
    const current = new Set(Object.values(parts).map(([, , digest]) => digest));
    const chosen = [...known].filter(([digest]) => current.has(digest));
    let at = 0;
    const index = Object.fromEntries(chosen.map(([digest, { length }]) => [digest, [at, (at += length)]]));
    writeFileSync(
      draft,
      Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...chosen.map(([, bytes]) => bytes)]),
    );
    renameSync(draft, kept);
  } catch {
    rmSync(draft, { force: true }); // a folder that may only be read, or a full disk: the next process compiles again
  }
}

const requireBuiltIn = createRequire(__filename);
const loaded = new Map<string, { exports: object }>();

function load(name: string): unknown {
  if (!(name in parts)) return requireBuiltIn(name);
  const before = loaded.get(name);
  if (before) return before.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  (scriptOf(name).runInThisContext() as Part)(module.exports, load, module, __filename, keepCompiled);
  return module.exports;
}

load(first);
