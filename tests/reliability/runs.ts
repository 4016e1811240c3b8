import { UndiciTransport } from "../../provider/api/undici-transport";

/** fast-check prints seed and path of a failure, shrunk; RELIABILITY_REPLAY="seed,path" repeats it. */
const [seed, path] = process.env.RELIABILITY_REPLAY?.split(",") ?? [];

export const bounds = (numRuns: number) => ({
  numRuns,
  ...(seed === undefined ? {} : { seed: Number(seed), path }),
});

/** Ends the connections of all the provider processes that were played: there are many. */
export async function disconnect(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is a mock in virtual time, and not called
  const { mock } = jest.mocked(UndiciTransport.prototype.send);
  await Promise.all([...new Set(mock.contexts as UndiciTransport[])].map((transport) => transport.close()));
  mock.contexts.length = 0;
}
