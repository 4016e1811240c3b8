import { integer, sample } from "fast-check";

/**
 * How a random test runs. fast-check prints seed and path of a failure: RANDOM_REPLAY="seed,path" repeats it, and shrinks it, which a
 * usual run does not: failed lives may take more memory than there is, and then nothing is printed.
 * Each run tries others; RANDOM_TIMES=10 tries ten times as many.
 */
const [seed, path] = process.env.RANDOM_REPLAY?.split(",") ?? [];
const times = Number(process.env.RANDOM_TIMES ?? 1);

/** @param fixed the seed of a usual run. Default: another one each time */
export const random = (numRuns: number, fixed?: number) => ({
  numRuns: Math.ceil(numRuns * times),
  endOnFailure: seed === undefined,
  ...(seed !== undefined ? { seed: Number(seed), path } : fixed !== undefined && times === 1 ? { seed: fixed } : {}),
});

/** Numbers that a test draws, and what it puts into its title to be repeated: others in each run, too. */
export function drawn(
  count: number,
  { min, max }: { min: number; max: number },
): { numbers: number[]; replay: string } {
  const own = seed === undefined ? Date.now() % 2 ** 31 : Number(seed);
  return { numbers: sample(integer({ min, max }), { seed: own, numRuns: count }), replay: `RANDOM_REPLAY=${own}` };
}
