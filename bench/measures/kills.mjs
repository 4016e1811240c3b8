// @ts-check
/** Whether what `consortium serve` acknowledged survives `kill -9`, at random times under load; `--seed` gives a run again. */
import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import { circumstances, median, seconds, table, writePart } from "../lib/report.mjs";
import { log } from "../../tools/lib/terminal.mjs";
import { checkGifts, checkLedger, checkObjects, checkPins, Clerk, Giver, Reader, Sender } from "../lib/clients.mjs";
import { Lab, makeNodes, randomOf, untilAnswered } from "../lib/lab.mjs";

/** @type {import("../lib/stack.mjs").Measure} */
export async function kills({ cli, options = {} }) {
  const count = Number(options.rounds ?? 20);
  const seed = Number(options.seed ?? Date.now() % 2 ** 31);
  const { rounds, acknowledged, lost } = await killRounds({ count, seed, log });
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

/**
 * `kill -9` of the service, the watcher, chains or all, at random times while clients work: whether all that they were told is there
 * afterwards.
 */

const { Wallet } = /** @type {typeof import("ethers")} */ (createRequire(import.meta.url)("ethers"));

const ether = 10n ** 18n;
const kinds = [
  { provider: "quorum", consensus_type: "raft" },
  { provider: "quorum", consensus_type: "ibft", block_period: 1 },
  { provider: "geth", consensus_type: "poa", block_period: 2 },
];
export const victims = /** @type {const} */ (["service", "watcher", "one chain", "all chains", "all"]);
const tethers = kinds.map(({ consensus_type }) => `t-${consensus_type}`);
const purse = "t-purse";

/** @typedef {{ victim: string, after: number, back: number, lost: string[] }} Round times in ms */

/** @param {Lab} lab @param {string} consortium @param {string} membership_id @param {typeof kinds[number]} kind */
async function ledgerOf(lab, consortium, membership_id, kind) {
  const name = kind.consensus_type;
  const { environment, nodes } = await makeNodes(lab.ask, { consortium, membership_id }, { name, ...kind }, 1);
  const [node] = /** @type {[typeof nodes[number]]} */ (nodes);
  await lab.ask(`/tether/t-${name}/targetNetwork`, { network: "rinkeby" });
  await lab.ask(`/tether/t-${name}/interval`, { interval: 1 });
  await lab.ask(`/tether/t-${name}/deploy`, {});
  return { ledger: { name, ...node }, chainId: Number(environment.chain_id) };
}

/** @param {Lab} lab @param {Awaited<ReturnType<typeof ledgerOf>>} place @param {import("../lib/clients.mjs").Random} random */
async function sendersOf(lab, { ledger, chainId }, random) {
  const senders = [1, 2].map(() => {
    const [wallet, sink] = [new Wallet(Wallet.createRandom().privateKey), Wallet.createRandom().address];
    return new Sender(lab, ledger, chainId, wallet, sink, random);
  });
  for (const { wallet } of senders) {
    const call = { from: ledger.account, to: wallet.address, value: `0x${ether.toString(16)}`, gasPrice: "0x0" };
    await lab.rpc(ledger, "eth_sendTransactionSync", [call]);
  }
  return senders;
}

/** Until all that was killed answers again. @param {Lab} lab @param {import("../lib/clients.mjs").Sender[]} senders */
async function recovered(lab, senders) {
  await untilAnswered(() => lab.api("GET", `/tether/${purse}/balance/rinkeby`));
  for (const { ledger } of senders) await untilAnswered(() => lab.rpc(ledger, "eth_blockNumber"));
}

/**
 * @param {{ count: number, seed: number, log?: (text: string) => void }} options
 */
export async function killRounds({ count, seed, log = () => undefined }) {
  const random = randomOf(seed);
  const services = [...tethers.map((id) => `${id}=${id.slice(2)}`), purse].flatMap((id) => ["--tether", id]);
  const lab = new Lab(["--tether-hour", "1", ...services]);
  /** @type {Round[]} */
  const rounds = [];
  try {
    await lab.start();
    const consortium = `/consortia/${(await lab.api("POST", "/consortia", { name: "ground" })).body._id}`;
    const member = await lab.api("POST", `${consortium}/memberships`, { org_name: "first" });
    const places = [];
    for (const kind of kinds) places.push(await ledgerOf(lab, consortium, member.body._id, kind));
    /** @type {Sender[][]} */
    const ledgers = [];
    for (const place of places) ledgers.push(await sendersOf(lab, place, random));
    const clerk = new Clerk(lab, consortium, member.body._id, random);
    const giver = new Giver(lab, purse, random);
    const reader = new Reader(lab, tethers);
    const workers = [clerk, giver, reader, ...ledgers.flat()];

    const check = async () => [
      ...(await checkObjects(clerk)),
      ...(await Promise.all(ledgers.map((senders) => checkLedger(lab, senders, ether)))).flat(),
      ...(await checkGifts(giver, ether)),
      ...(await settledPins(reader)),
    ];
    for (let round = 1; round <= count; round++) {
      await all(lab, "activate");
      let stop = false;
      const working = Promise.all(workers.map((one) => one.work(() => stop)));
      working.catch(() => undefined); // it is awaited below
      const after = random.between(300, 3_000);
      await wait(after);
      const victim = random.one(victims);
      const { service, watcher, chains } = lab.processes();
      const killed = performance.now();
      if (victim === "service") lab.kill(service);
      if (victim === "watcher") lab.kill(watcher);
      if (victim === "one chain") lab.kill([random.one(chains)]);
      if (victim === "all chains") lab.kill(chains);
      if (victim === "all") lab.kill([...service, ...watcher, ...chains]);
      if (victim === "service" || victim === "all") await lab.start();
      await recovered(lab, ledgers.flat());
      const back = performance.now() - killed;
      await wait(random.between(100, 1_000));
      stop = true;
      await working;
      await all(lab, "deactivate");
      for (const sender of ledgers.flat()) while (sender.open) await sender.send();
      await mined(lab, ledgers.flat());
      const lost = await check();
      rounds.push({ victim, after, back, lost });
      log(
        `${round}/${count}: ${victim} after ${after} ms, back after ${Math.round(back)} ms: ${lost.join("; ") || "all is there"}`,
      );
    }
    await lab.stop();
    await lab.start();
    await recovered(lab, ledgers.flat());
    const lost = [...rounds.flatMap((one) => one.lost), ...(await check())];
    const sum = (/** @type {(sender: Sender) => number} */ of) => ledgers.flat().reduce((all, one) => all + of(one), 0);
    const acknowledged = {
      "objects created, renamed, deleted": clerk.count,
      transactions: sum(({ answered }) => answered.size),
      "their receipts": sum(({ receipts }) => receipts.size),
      "blocks that were seen": sum(({ blocks }) => blocks.size),
      "payments of the faucet": giver.count,
      pins: reader.reports.size,
    };
    return { rounds, acknowledged, lost };
  } finally {
    await lab.close();
  }
}

/** Until each transaction is in a block. @param {Lab} lab @param {import("../lib/clients.mjs").Sender[]} senders */
async function mined(lab, senders) {
  for (const { ledger, wallet, nonce } of senders) {
    const count = async () => {
      const params = [wallet.address, "latest"];
      const { result } = await lab.rpc(ledger, "eth_getTransactionCount", params);
      return Number(result);
    };
    const end = performance.now() + 60_000;
    while ((await count()) < nonce && performance.now() < end) await wait(100);
  }
}

/** Tethers pin, or rest so that they can be counted. @param {Lab} lab @param {"activate" | "deactivate"} what */
async function all(lab, what) {
  for (const tether of tethers) await lab.api("POST", `/tether/${tether}/${what}`, {});
}

/** A pin that was under way is finished first. @param {Reader} reader */
async function settledPins(reader) {
  const end = performance.now() + 60_000;
  for (;;) {
    await reader.read();
    const lost = await checkPins(reader, ether);
    if (lost.length === 0 || performance.now() > end) return lost;
    await wait(500);
  }
}
