import { killRounds } from "../../../bench/measures/kills.mjs";
import { built } from "../../service/child";

/* A slice of `npm run bench -- kills`. KILLS_SEED gives a run again, KILLS_ROUNDS makes it longer. */
const count = Number(process.env.KILLS_ROUNDS ?? 2);
const seed = Number(process.env.KILLS_SEED ?? Date.now() % 2 ** 31);

jest.setTimeout(120_000 + count * 60_000);
beforeAll(built);

test("kill -9 of the service, the watcher, a chain or all under load loses nothing that anybody was told", async () => {
  const { lost, acknowledged, rounds } = await killRounds({ count, seed });
  expect({ seed, rounds, lost }).toEqual({ seed, rounds, lost: [] });
  for (const [what, number] of Object.entries(acknowledged)) expect([what, number > 0]).toEqual([what, true]);
});
