// @ts-check
/** Previews, each beside another one, without a service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { comparePreviews, quickstart } from "../lib/previews.mjs";
import { Stack } from "../lib/stack.mjs";
import { byHand, file, fromFile, resources } from "../programs/networks.mjs";
import { root } from "../../tools/lib/prepare.mjs";

/** The quickstart beside the same program with resources that do nothing. @type {import("../lib/stack.mjs").Measure} */
export const preview = async ({ cli, options = {} }) => {
  const expected = "+ 12 to create";
  const empty = readFileSync(new URL("../programs/empty.ts", import.meta.url), "utf8");
  const ours = await quickstart(cli);
  const other = await quickstart(cli, { "empty.ts": empty }, "./empty");
  return comparePreviews(
    [
      { title: "quickstart", stack: ours, expected },
      { title: "the same with empty dynamic resources", stack: other, expected },
    ],
    options,
    1.25,
  );
};

/** A network file (2 consortia, 6 environments, 24 nodes, 40 members) beside the same resources in a program. @type {import("../lib/stack.mjs").Measure} */
export const network = async ({ cli, options = {} }) => {
  const fileStack = await Stack.create(cli, { program: fromFile, files: { "network.yaml": file } });
  const handStack = await Stack.create(cli, { program: byHand });
  // A file also creates the component that contains its resources. Both create the stack.
  const expected = (/** @type {number} */ more) => `+ ${resources + more} to create`;
  return comparePreviews(
    [
      { title: "a network file", stack: fileStack, expected: expected(2) },
      { title: "the same resources in a program", stack: handStack, expected: expected(1) },
    ],
    options,
    1.2,
  );
};

/** What the policy pack adds to a preview of the quickstart. @type {import("../lib/stack.mjs").Measure} */
export const policy = async ({ cli, options = {} }) => {
  const stack = await quickstart(cli);
  const args = ["--policy-pack", join(root, "policy-pack")];
  return comparePreviews(
    [
      { title: "the quickstart with the policy pack", stack, args, expected: "pulumi-consortium@v" },
      { title: "the quickstart without it", stack, expected: "+ 12 to create" },
    ],
    options,
  );
};
