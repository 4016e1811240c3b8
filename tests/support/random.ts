/**
 * How a random test runs. fast-check prints seed and path of a failure, shrunk: RANDOM_REPLAY="seed,path" repeats it.
 * Each run tries others; RANDOM_TIMES=10 tries ten times as many.
 */
const [seed, path] = process.env.RANDOM_REPLAY?.split(",") ?? [];
const times = Number(process.env.RANDOM_TIMES ?? 1);

export const random = (numRuns: number) => ({
  numRuns: numRuns * times,
  ...(seed === undefined ? {} : { seed: Number(seed), path }),
});
