import { setTimeout as wait } from "node:timers/promises";
import { built } from "../../service/child";
import { Clerk, Giver, lostOf, type Random, randomOf, Reader, Sender } from "../support/kills/clients";
import { environments, makeNetwork, Served, tetherOf } from "../support/kills/served";
import { patiently } from "../../support/jest/patience";

/* By default, a short run. KILLS_ROUNDS=20 runs everything and writes docs/maintainers/reliability.md. KILLS_SEED repeats a run. */
const count = Number(process.env.KILLS_ROUNDS ?? 2);
const seed = Number(process.env.KILLS_SEED ?? Date.now() % 2 ** 31);

jest.setTimeout(patiently(120_000 + count * 60_000));
beforeAll(built);

const ether = 10n ** 18n;
const victims = ["service", "watchers", "one chain", "all chains", "all"] as const;
const purse = "t-purse";
const tethers = environments.map(tetherOf);

/** Kills some of its processes, and waits until all is back. Returns how long that took, in ms. */
async function kill(service: Served, victim: (typeof victims)[number], random: Random, back: () => Promise<void>) {
  const { service: server, watchers, chains } = service.processes();
  const killed = performance.now();
  const doomed = {
    service: server,
    watchers,
    "one chain": chains.length > 0 ? [random.one(chains)] : [],
    "all chains": chains,
    all: [...server, ...watchers, ...chains],
  };
  for (const pid of doomed[victim]) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      continue; // it ended with the process before
    }
  }
  if (victim === "service" || victim === "all") await service.start();
  await back();
  return performance.now() - killed;
}

async function rounds(service: Served, random: Random) {
  await service.start();
  const { list, first, ledgers } = await makeNetwork(service);
  const senders = await Promise.all(
    ledgers.flatMap((ledger) => [1, 2].map(() => Sender.withFunds(service, ledger, random, ether))),
  );
  const clerk = new Clerk(service, list, first, random);
  const giver = new Giver(service, purse, random, ether);
  const reader = new Reader(service, tethers, ether);
  const back = () => service.answers(purse, ledgers);
  /** Lets all tethers pin, or rest so that their pins can be counted. */
  const all = async (what: "activate" | "deactivate") => {
    for (const tether of tethers) await service.api("POST", `/tether/${tether}/${what}`, {});
  };
  const lost = async (): Promise<string[]> => {
    const own = ledgers.map((ledger) => senders.filter((sender) => sender.ledger === ledger));
    const checks = [clerk.lost(), ...own.map((some) => lostOf(service, some, ether)), giver.lost(), reader.lost()];
    return (await Promise.all(checks)).flat();
  };

  const done: { victim: string; after: number; back: number; lost: string[] }[] = [];
  for (let round = 1; round <= count; round++) {
    await all("activate");
    let stop = false;
    const working = Promise.all([clerk, giver, reader, ...senders].map((one) => one.work(() => stop)));
    working.catch(() => undefined); // it is awaited below
    const after = random.between(300, 3_000);
    await wait(after);
    const victim = random.one(victims);
    const ms = await kill(service, victim, random, back);
    await wait(random.between(100, 1_000));
    stop = true;
    await working;
    await all("deactivate");
    for (const sender of senders) while (sender.open) await sender.send();
    for (const sender of senders) await sender.mined();
    done.push({ victim, after, back: Math.round(ms), lost: await lost() });
  }
  await service.stop();
  await service.start();
  await back();
  const sum = (of: (sender: Sender) => number) => senders.reduce((total, one) => total + of(one), 0);
  const acknowledged = {
    "objects created, renamed, deleted": clerk.count,
    transactions: sum(({ answered }) => answered.size),
    "their receipts": sum(({ receipts }) => receipts.size),
    "blocks that were seen": sum(({ blocks }) => blocks.size),
    "payments of the faucet": giver.count,
    pins: reader.reports.size,
  };
  return { done, acknowledged, lost: [...done.flatMap((one) => one.lost), ...(await lost())] };
}

test("kill -9 of the service, the watchers, a chain or all under load loses nothing acknowledged", async () => {
  const offered = environments.flatMap(({ name }) => ["--tether", `${tetherOf({ name })}=${name}`]);
  const service = new Served(["--tether-hour", "1", ...offered, "--tether", purse]);
  try {
    const { done, acknowledged, lost } = await rounds(service, randomOf(seed));
    if (process.env.KILLS_ROUNDS) console.log({ seed, done, acknowledged });
    expect({ seed, done, lost }).toEqual({ seed, done, lost: [] });
    for (const [what, number] of Object.entries(acknowledged)) expect([what, number > 0]).toEqual([what, true]);
  } finally {
    await service.close();
  }
});
