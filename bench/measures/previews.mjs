// @ts-check
/** Previews, each beside another one, without a service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { comparePreviews, quickstart } from "../lib/previews.mjs";
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
