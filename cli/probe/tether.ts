import { paths } from "../../provider/api/paths";
import { countIn, tetherIn } from "../../provider/api/tether";
import { isObject, fieldsOf } from "../../provider/plain";
import type { Seen } from "./notes";
import { type Answer, judged, type Question, type World } from "./world";

/* Tries a tether service that nothing uses, because the API makes none. What is paid for comes last, and is stopped. */

/** A public chain that is neither `mainnet` nor `rinkeby`. */
const otherChain = "sepolia";
/** Longer than two reports take if the interval is in minutes. */
const twoReports = 150_000;
const notAsked = "not asked: needs --tether";

const refused = (world: World, { status, body }: Seen): string => {
  const { errorMessage } = fieldsOf(body);
  return `HTTP ${status}${typeof errorMessage === "string" ? `, ${world.notes.plain(errorMessage)}` : ""}`;
};

/** The interval that an answer shows, in whatever it is wrapped. */
function intervalIn(body: unknown): unknown {
  const shown = fieldsOf(body);
  const inner = isObject(shown.config) ? fieldsOf(shown.config) : shown;
  return inner.uploadInterval ?? inner.interval;
}

async function account(world: World): Promise<Answer | string> {
  const { unusedTether, answers } = world;
  if (unusedTether === undefined) return notAsked;
  const where = paths.tether(unusedTether.id);
  const post = (action: string, body: object = {}) => world.ask("POST", `${where}/${action}`, { body });
  const count = await world.ask("GET", `${where}/reportCount`);
  if (!count.ok) throw new Error(`The tether cannot be read (${refused(world, count)}). Check the id of --tether.`);
  const whole = await world.ask("GET", where);
  const { state, contract, listed = [], unclear } = tetherIn(whole.ok ? whole.body : undefined);
  const isDeployed = contract !== undefined || unclear.length > 0 || listed.some(([, fact]) => fact !== "no");
  if (countIn(count.body) !== 0 || isDeployed || state === "active")
    throw new Error("The tether may have a contract or reports, so it may be in use. Name another one with --tether.");
  const mayPay = unusedTether.mayPay && whole.ok; // or a contract might be paid for again

  const first = await world.ask("GET", `${where}/account`);
  const made = first.ok ? first : await post("account");
  answers.tetherAccounts = first.ok;
  if (!first.ok) answers.tetherConfig = isObject(fieldsOf(made.body).config);

  const chain = await post("targetNetwork", { network: otherChain });
  world.tether.chains = judged(
    chain.ok,
    chain.ok ? `${otherChain} is taken` : `${otherChain}: ${refused(world, chain)}`,
  );
  const network = chain.ok ? otherChain : "rinkeby";
  if (!chain.ok) await post("targetNetwork", { network });
  const set = await post("interval", { interval: 1 });
  answers.tetherConfig = isObject(fieldsOf(set.body).config);
  world.tether.interval = await interval(world, set, network, mayPay);

  if (first.ok) return judged(false, "from the start");
  return judged(
    made.ok,
    made.ok ? `none (HTTP ${first.status}), until it is asked for` : `none: ${refused(world, made)}`,
  );
}

/** Starts the tether with an interval of 1, and waits for a second report: in hours, none comes. */
async function interval(world: World, set: Seen, network: string, mayPay: boolean): Promise<Answer | string> {
  const where = paths.tether(world.unusedTether!.id);
  if (!set.ok) return `not known: ${refused(world, set)}`;
  const shown = intervalIn(set.body);
  const told = shown === undefined ? "no interval is shown" : `1 is shown as ${String(Number(shown))}`;
  if (shown !== undefined && Number(shown) !== 1) return judged(Number(shown) === 60, told);
  if (!mayPay) return `not known: ${told}, and nothing was paid for`;
  for (const action of ["deploy", "activate"]) {
    const done = await world.ask("POST", `${where}/${action}`, { body: {} });
    if (!done.ok) return `not known: ${told}, and on ${network}, ${action} is refused: ${refused(world, done)}`;
  }
  try {
    const limit = Math.min(twoReports, world.waitMs);
    const { value } = await world.until(async () => {
      const { body } = await world.ask("GET", `${where}/reportCount`);
      return Number(body) >= 2 ? { value: true } : {};
    }, limit);
    if (value === true) return judged(true, "minutes");
    const none = `no second report within ${Math.round(limit / 1000)} s`;
    return limit < twoReports ? `not known: ${none}; give --wait ${twoReports / 1000}` : judged(true, `hours: ${none}`);
  } finally {
    await world.whatever(() => world.ask("POST", `${where}/deactivate`, { body: {} }));
  }
}

export const ofTether: readonly Question[] = [
  { question: "The account of a new tether", fact: "tetherAccount", ask: account },
  { question: "Another public chain", fact: "chains", ask: ({ tether }) => tether.chains ?? notAsked },
  { question: "A tether's interval counts", fact: "interval", ask: ({ tether }) => tether.interval ?? notAsked },
];
