import Sequencer from "@jest/test-sequencer";

/** End-to-end files take the longest: they come first, so that no worker is left with one of them at the end. */
export default class extends Sequencer {
  /** @param {import("@jest/test-result").Test[]} tests */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isSlow = ({ path }) => path.includes("/e2e/");
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
}
