import { type Identified } from "../../../provider/api";
import { type Props } from "../../../provider/core/definition";
import { read } from "../../../provider/core/lifecycle/read";
import { fresh, stateOf, storedKey } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";
import { base } from "../../support/by-kind";
import { placed } from "./placed";

/* A refresh of one object: what a look changes in the state, and what it leaves as it was. */

interface Case {
  list: Identified[];
  /** What was shown before. */
  shown?: Props;
}

async function reading({ list, shown = {} }: Case) {
  let asked = 0;
  const owned = { ...base.node, name: "N 1" };
  const before = { ...owned, state: "started", revision: "1", urls: { rpc: "old" }, nodeKey: "k", ...shown };
  const state = stateOf(definitions.node, fresh(owned, before));
  const { collection, said } = placed({ kind: "node", inputs: state, id: "x" }, () => ({
    listed: () => list,
    elsewhere: () => [{ id: "c" }, { id: "e", state: "live" }],
    getNodeStatus: () => {
      asked += 1;
      return Promise.resolve({ urls: { rpc: "new" } });
    },
  }));
  const now = await read(collection, "x", state);
  return { now, kept: (now?.[storedKey] ?? {}) as Props, asked, said };
}

const node = (more: Props = {}): Identified => ({
  id: "x",
  name: "N 1",
  membership_id: "m",
  state: "started",
  _revision: "1",
  ...more,
});

describe("its details", () => {
  test.each<[string, Case, number, string]>([
    ["are asked for once for all in a place, if it has not changed", { list: [node()] }, 1, "new"],
    ["are not, if it does not work", { list: [node({ state: "stopped" })], shown: { state: "stopped" } }, 0, "old"],
    ["are, if they are not known", { list: [node()], shown: { urls: undefined } }, 1, "new"],
  ])("%s", async (_, given, times, rpc) => {
    const { now, asked } = await reading(given);
    expect([asked, now?.urls]).toEqual([times, { rpc }]);
  });
});

describe("a value", () => {
  test.each<[string, Case, Props, Props]>([
    [
      "that the service shows for the first time is its answer",
      { list: [node({ size: "small" })] },
      { size: "small" },
      { answered: undefined },
    ],
    [
      "that is only spelled otherwise in what has not changed is its answer",
      { list: [node({ name: "n-1" })] },
      { name: "n-1" },
      { answered: undefined },
    ],
    [
      "that is spelled otherwise in what has changed is drift",
      { list: [node({ name: "n-1", _revision: "2" })] },
      { name: "n-1" },
      { asked: { name: "N 1" } },
    ],
  ])("%s", async (_, given, shows, stored) => {
    const { now, kept } = await reading(given);
    expect(now).toMatchObject(shows);
    for (const [part, values] of Object.entries(stored))
      if (values === undefined) expect(kept[part]).toBeUndefined();
      else expect(kept[part]).toMatchObject(values as Props);
  });
});

test("a state that this version does not know is named when it comes, and not again while it stays", async () => {
  const purring = { list: [node({ state: "purring" })] };
  expect((await reading(purring)).said).toEqual([expect.stringMatching(/^Warning: node "N 1" \(x\): .*"purring"/)]);
  expect((await reading({ ...purring, shown: { state: "purring" } })).said).toEqual([]);
  expect((await reading({ ...purring, shown: { state: "dozing" } })).said).toHaveLength(1);
});
