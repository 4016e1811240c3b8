import { logicalNameKey } from "../../../provider/constants";
import { bases, type Collected, nameKey } from "../../support/bases";
import { Engine, failed } from "../../support/engine";
import { world } from "../../support/lifecycle";

/* Names that are taken, and names that differ only in case. */

describe("a name that is taken", () => {
  test.each(["consortium", "node"] as const)(
    "%s: refused with the id and what to do, and nothing is created",
    async (kind) => {
      const { engine, net, count, writes } = await world(kind);
      await new Engine(kind).up(bases[kind](net));
      writes();
      const why =
        /set adopt: true .*or choose another name\. The name is already taken by \S+\. .*\[name-taken: docs\/troubleshooting\.md#name-taken\]$/;
      expect(await engine.up(bases[kind](net))).toEqual(failed(why));
      expect(writes()).toEqual([]);
      expect(await count()).toBe(1);
    },
  );

  test("only in the same parent", async () => {
    const { engine, net } = await world("node");
    await new Engine("node").up(bases.node(net));
    const elsewhere = { ...bases.node(net), environmentId: net.otherEnvironmentId };
    expect(await engine.up(elsewhere)).toEqual({ then: "created" });
  });
});

const pairs: Collected[] = ["membership", "node"];
test.each(pairs)("%s: two names that differ only in case stay two objects, whichever answer is lost", async (kind) => {
  const { engine, service, net, count, time } = await world(kind);
  const other = new Engine(kind);
  time.late = ({ method }) => (method === "POST" ? time.sleep(5_000) : Promise.resolve());
  service.faults.add({ kind: "resetBefore", method: "POST" });
  const args = ["ACME", "acme"].map((name) => ({ ...bases[kind](net), [nameKey(kind)]: name, [logicalNameKey]: name }));
  const outcomes = await Promise.all([engine.up(args[0]!), other.up(args[1]!)]);
  expect(outcomes).toEqual([{ then: "created" }, { then: "created" }]);
  expect(await count()).toBe(2);
  expect(engine.kept!.id).not.toBe(other.kept!.id);
});
