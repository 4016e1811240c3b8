// @ts-check
/** Whether what `consortium serve` acknowledged survives `kill -9`, at random times under load; `--seed` gives a run again. */
import { circumstances, writePart } from "../lib/document.mjs";
import { median, seconds, table } from "../lib/report.mjs";
import { killRounds, victims } from "../ground/rounds.mjs";
import { say } from "../../tools/lib/say.mjs";

/** @type {import("../lib/rig.mjs").Measure} */
export async function kills({ cli, options = {} }) {
  const count = Number(options.rounds ?? 20);
  const seed = Number(options.seed ?? Date.now() % 2 ** 31);
  const { rounds, acknowledged, lost } = await killRounds({ count, seed, say });
  const ofKind = victims.map((victim) => rounds.filter((round) => round.victim === victim));
  const killed = table(
    ["killed", "rounds", "something lost", "until all answer again, median", "longest"],
    ofKind.map((some, at) => {
      const times = some.map(({ back }) => back);
      const losses = some.filter((round) => round.lost.length > 0).length;
      return [`${victims[at]}`, `${some.length}`, `${losses}`, seconds(median(times)), seconds(Math.max(...times))];
    }),
  );
  const told = table(
    ["acknowledged, and there at the end", "count"],
    Object.entries(acknowledged).map(([what, number]) => [what, `${number}`]),
  );
  const measured = `Measured on ${await circumstances(cli)}; ${count} rounds, seed ${seed}.`;
  const details = `${measured}\n\n${killed}\n\n${told}`;
  if (options.rounds === undefined) await writePart("docs/maintainers/reliability.md", "kills", details);
  const row = {
    measure: `${count} rounds of kill -9`,
    target: "nothing lost",
    met: lost.length === 0,
    measured: lost.length === 0 ? "nothing lost" : lost.join("; "),
  };
  return { rows: [row], details };
}
