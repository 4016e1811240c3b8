// @ts-check
/** A network file (2 consortia, 6 environments, 24 nodes, 40 members) beside the same resources in a program. No network, no service. */
import { comparePreviews } from "../lib/previews.mjs";
import { Stack } from "../lib/stack.mjs";
import { byHand, file, fromFile, resources } from "../programs/network.mjs";

const most = 1.2;

/** @type {import("../lib/rig.mjs").Measure} */
export const network = async ({ cli, options = {} }) => {
  const fileStack = await Stack.create(cli, { program: fromFile, files: { "network.yaml": file } });
  const handStack = await Stack.create(cli, { program: byHand });
  // Besides its parts a file makes the component that holds them; both make the stack.
  const expected = (/** @type {number} */ more) => `+ ${resources + more} to create`;
  try {
    return await comparePreviews(
      [
        { title: "a network file", stack: fileStack, expected: expected(2) },
        { title: "the same resources in a program", stack: handStack, expected: expected(1) },
      ],
      options,
      most,
    );
  } finally {
    for (const stack of [fileStack, handStack]) stack.remove();
  }
};
