import { bases } from "../../support/bases";
import { Engine } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { newProcess } from "../../support/service";

/* Two that have one name in the service are adopted at the same time, each by its id. */

async function two() {
  const { net } = await world("membership");
  const made = [new Engine("membership"), new Engine("membership")];
  for (const [index, engine] of made.entries()) {
    await engine.up({ ...bases.membership(net), orgName: `member-${index}` });
  }
  newProcess();
  const take = (id: string) => new Engine("membership").up({ ...bases.membership(net), orgName: "same", adopt: id });
  return { ids: made.map(({ kept }) => kept!.id), take };
}

test("by two ids: both", async () => {
  const { ids, take } = await two();
  const outcomes = await Promise.all(ids.map(take));
  expect(outcomes.map(({ then }) => then)).toEqual(["created", "created"]);
});

test("by one id: only one of them, and the other is told", async () => {
  const { ids, take } = await two();
  const outcomes = await Promise.all([take(ids[0]!), take(ids[0]!)]);
  expect(outcomes.map(({ then }) => then)).toEqual(["created", "failed"]);
  expect(outcomes[1]).toMatchObject({ error: expect.stringContaining(`adopts ${ids[0]}, too`) as string });
});
