// @ts-check
/** Whether what `consortium serve` acknowledged survives `kill -9` at random times under load. `--seed` repeats a run. */
import { setTimeout as wait } from "node:timers/promises";
import { circumstances, median, seconds, table, writePart } from "../lib/report.mjs";
import { log } from "../../tools/lib/terminal.mjs";
import {
  checkGifts,
  checkLedger,
  checkObjects,
  checkPins,
  Clerk,
  Giver,
  randomOf,
  Reader,
  Sender,
} from "../lib/clients.mjs";
import {
  deployTether,
  eachConsensus,
  makeNetwork,
  ServeProcess,
  tetherOf,
  tetherOptions,
  untilAnswered,
} from "../lib/serve.mjs";

/** @type {import("../lib/stack.mjs").Measure} */
export async function kills({ cli, options = {} }) {
  const { rounds: count = 20, seed = Date.now() % 2 ** 31 } = options;
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

const ether = 10n ** 18n;
const kinds = eachConsensus;
const victims = /** @type {const} */ (["service", "watchers", "one chain", "all chains", "all"]);
const tethers = kinds.map(({ name }) => tetherOf(name));
const purse = "t-purse";

/** @typedef {{ victim: string, after: number, back: number, lost: string[] }} Round times in ms */

/** Two accounts with an ether each. @param {ServeProcess} service @param {import("../lib/clients.mjs").Ledger} ledger @param {import("../lib/clients.mjs").Random} random */
async function sendersOf(service, ledger, random) {
  const senders = [1, 2].map(() => new Sender(service, ledger, random));
  for (const { node, wallet } of senders) {
    const call = { from: node.account, to: wallet.address, value: `0x${ether.toString(16)}`, gasPrice: "0x0" };
    await service.rpc(node, "eth_sendTransactionSync", [call]);
  }
  return senders;
}

/** Waits until the service, the target network and every node answer. @param {ServeProcess} service @param {import("../lib/serve.mjs").Node[]} nodes */
async function recovered(service, nodes) {
  await untilAnswered(() => service.api("GET", `/tether/${purse}/balance/rinkeby`));
  await service.answers(nodes);
}

/**
 * @param {{ count: number, seed: number, log?: (text: string) => void }} options
 */
export async function killRounds({ count, seed, log = () => undefined }) {
  const random = randomOf(seed);
  const service = new ServeProcess(["--tether-hour", "1", ...tetherOptions(kinds), "--tether", purse]);
  /** @type {Round[]} */
  const rounds = [];
  try {
    await service.start();
    const { consortium, membership, environments } = await makeNetwork(service.ask, kinds);
    const nodes = environments.flatMap((one) => one.nodes);
    /** @type {Sender[][]} */
    const ledgers = [];
    for (const environment of environments) {
      await deployTether(service.ask, environment.name);
      ledgers.push(await sendersOf(service, environment, random));
    }
    const clerk = new Clerk(service, consortium, membership, random);
    const giver = new Giver(service, purse, random);
    const reader = new Reader(service, tethers);
    const workers = [clerk, giver, reader, ...ledgers.flat()];

    const check = async () => [
      ...(await checkObjects(clerk)),
      ...(await Promise.all(ledgers.map((senders) => checkLedger(service, senders, ether)))).flat(),
      ...(await checkGifts(giver, ether)),
      ...(await settledPins(reader)),
    ];
    for (let round = 1; round <= count; round++) {
      await all(service, "activate");
      let stop = false;
      const working = Promise.all(workers.map((one) => one.work(() => stop)));
      working.catch(() => undefined); // it is awaited below
      const after = random.between(300, 3_000);
      await wait(after);
      const victim = random.one(victims);
      const { service: server, watchers, chains } = service.processes();
      const killed = performance.now();
      if (victim === "service") service.kill(server);
      if (victim === "watchers") service.kill(watchers);
      if (victim === "one chain") service.kill([random.one(chains)]);
      if (victim === "all chains") service.kill(chains);
      if (victim === "all") service.kill([...server, ...watchers, ...chains]);
      if (victim === "service" || victim === "all") await service.start();
      await recovered(service, nodes);
      const back = performance.now() - killed;
      await wait(random.between(100, 1_000));
      stop = true;
      await working;
      await all(service, "deactivate");
      for (const sender of ledgers.flat()) while (sender.open) await sender.send();
      await mined(ledgers.flat());
      const lost = await check();
      rounds.push({ victim, after, back, lost });
      log(
        `${round}/${count}: ${victim} after ${after} ms, back after ${Math.round(back)} ms: ${lost.join("; ") || "all is there"}`,
      );
    }
    await service.stop();
    await service.start();
    await recovered(service, nodes);
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
    await service.close();
  }
}

/** Waits until each transaction is in a block. @param {Sender[]} senders */
async function mined(senders) {
  for (const { service, node, wallet, nonce } of senders) {
    const count = async () => {
      const params = [wallet.address, "latest"];
      const { result } = await service.rpc(node, "eth_getTransactionCount", params);
      return Number(result);
    };
    const end = performance.now() + 60_000;
    while ((await count()) < nonce && performance.now() < end) await wait(100);
  }
}

/** Lets all tethers pin, or rest so that their pins can be counted. @param {ServeProcess} service @param {"activate" | "deactivate"} what */
async function all(service, what) {
  for (const tether of tethers) await service.api("POST", `/tether/${tether}/${what}`, {});
}

/** Checks the pins once those that were under way are finished. @param {Reader} reader */
async function settledPins(reader) {
  const end = performance.now() + 60_000;
  for (;;) {
    await reader.read();
    const lost = await checkPins(reader, ether);
    if (lost.length === 0 || performance.now() > end) return lost;
    await wait(500);
  }
}
