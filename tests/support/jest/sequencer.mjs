import Sequencer from "@jest/test-sequencer";

/** Short files that take a minute: their size decides when they run, until a run on this machine has measured them. */
const long = [
  ...["life/faults", "engine/dynamic", "engine/plugin", "life/own-form", "life/backends"],
  ...["install/newest", "install/release", "fleet/fleet", "gitops/forges", "install/npm", "stories/languages"],
];

/** What takes longest comes first, so that no worker is left with it at the end: end-to-end files, and the long ones of them. */
export default class extends Sequencer {
  /** @param {import("@jest/test-result").Test[]} tests */
  async sort(tests) {
    const rank = ({ path }) =>
      long.some((name) => path.endsWith(`/${name}.test.ts`)) ? 0 : path.includes("/e2e/") ? 1 : 2;
    return (await super.sort(tests)).sort((one, other) => rank(one) - rank(other));
  }
}
