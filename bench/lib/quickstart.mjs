// @ts-check
/** A stack of examples/quickstart as it is, or with its classes from elsewhere. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { Trouble } from "../../tools/lib/say.mjs";
import { Stack } from "./stack.mjs";

const from = '"pulumi-consortium"';

/**
 * @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli
 * @param {Record<string, string>} [more] further files
 * @param {string} [classes] what the program imports its classes from
 */
export async function quickstart(cli, more = {}, classes = "pulumi-consortium") {
  const read = (/** @type {string} */ name) => readFileSync(join(root, "examples/quickstart", name), "utf8");
  if (!read("index.ts").includes(from)) throw new Trouble("the quickstart does not import pulumi-consortium");
  const files = Object.fromEntries(["Pulumi.yaml", "package.json", "tsconfig.json"].map((name) => [name, read(name)]));
  const program = { "index.ts": read("index.ts").replace(from, JSON.stringify(classes)) };
  const stack = await Stack.create(cli, { files: { ...files, ...program, ...more } });
  await stack.ok(["config", "set", "tetherId", "t0benchmrk"]);
  return stack;
}
