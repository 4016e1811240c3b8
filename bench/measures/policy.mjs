// @ts-check
/** What the ready policy pack adds to a preview of the quickstart. No network, no service. */
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { comparePreviews } from "../lib/previews.mjs";
import { quickstart } from "../lib/quickstart.mjs";

/** @type {import("../lib/rig.mjs").Measure} */
export const policy = async ({ cli, options = {} }) => {
  const stack = await quickstart(cli);
  const args = ["--policy-pack", join(root, "policy-pack")];
  try {
    return await comparePreviews(
      [
        { title: "the quickstart with the policy pack", stack, args, expected: "pulumi-consortium@v" },
        { title: "the quickstart without it", stack, expected: "+ 12 to create" },
      ],
      options,
    );
  } finally {
    stack.remove();
  }
};
