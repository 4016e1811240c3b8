import { hardForks, type HardFork, hasFork, secondsOf } from "../../provider/profiles";
import { paths } from "../../provider/api/paths";
import { counted, fieldsOf } from "../../provider/plain";
import type { Question, World } from "./world";

/* Identifies a node's ledger: a service may name one client and run another. */

/** Pushes a word with PUSH0, which is new in Shanghai, and returns it. */
const push0 = "0x5f5f5260205ff3";
/** Returns as many bytes of code. */
const codeOf = (size: number): string => `0x62${size.toString(16).padStart(6, "0")}6000f3`;
const mostCode = 131_072;

/** Creates a credential, and notes how to call the node. Returns the reason if it cannot be called. */
async function reach(world: World): Promise<string | undefined> {
  const body = { membership_id: world.member?.id };
  const made = fieldsOf((await world.ask("POST", world.in(paths.appcreds), { body })).body);
  const { username, password } = made;
  const id = made._id ?? made.id;
  if (typeof username !== "string" || typeof password !== "string") return "not asked: no credential is shown";
  if (typeof id === "string") world.credential = { path: paths.item(world.in(paths.appcreds), id), username, password };
  if (!world.started) return "not asked: the node did not start";
  const seen = await world.ask("GET", `${world.path("node")}/status`);
  const { rpc } = fieldsOf(fieldsOf(seen.body).urls);
  if (typeof rpc !== "string" || rpc === "") return "not asked: the node has no address";
  world.node = { url: rpc, username, password };
  return undefined;
}

async function client(world: World): Promise<string> {
  const why = await reach(world);
  if (why !== undefined) return why;
  const { result, why: refused } = await world.askNode("web3_clientVersion");
  if (typeof result !== "string") {
    world.node = undefined;
    return `the node does not answer: ${refused}`;
  }
  // the second part may be a node's own name
  const parts = result.split("/").filter((part, at) => at !== 1 || /^v?\d/.test(part));
  world.answers.quorumLedger = { ...world.answers.quorumLedger, clientVersion: parts.join("/").slice(0, 200) };
  return parts.join("/");
}

/** A question to the node. */
const ofNode = (ask: (world: World) => Promise<string>) => async (world: World) =>
  world.node ? ask(world) : "not asked: the node does not answer";

async function hardFork(world: World): Promise<string> {
  const block = fieldsOf((await world.askNode("eth_getBlockByNumber", ["latest", false])).result);
  const shown = Object.entries(hardForks).filter(([, fields]) => fields.some((name) => block[name] !== undefined));
  const fork = (shown.at(-1)?.[0] ?? "berlin") as HardFork;
  const ran = (await world.askNode("eth_call", [{ data: push0 }, "latest"])).result !== undefined;
  world.answers.quorumLedger = { ...world.answers.quorumLedger, hardFork: fork };
  const fields = shown.flatMap(([, names]) => [...names]).filter((name) => block[name] !== undefined);
  const known = ran === hasFork(fork, "shanghai") ? "" : `, although PUSH0 ${ran ? "works" : "fails"}`;
  return `${fork}: blocks have ${fields.join(", ") || "no baseFeePerGas"}${known}`;
}

/** The first block may have any time, so a transaction makes another one. */
async function clock(world: World): Promise<string> {
  const status = fieldsOf((await world.ask("GET", `${world.path("node")}/status`)).body);
  const [from] = (Array.isArray(status.user_accounts) ? status.user_accounts : []) as unknown[];
  const { result: hash, why } = await world.askNode("eth_sendTransaction", [{ from, to: from, value: "0x0" }]);
  if (typeof hash !== "string") return `not known: a transaction is refused: ${why}`;
  const { value } = await world.until(async () => {
    const { result } = await world.askNode("eth_getTransactionReceipt", [hash]);
    return typeof result === "object" && result !== null ? { value: fieldsOf(result) } : {};
  }, world.waitMs / 5);
  if (!value) return "not known: a transaction gets no block";
  const { result } = await world.askNode("eth_getBlockByNumber", [value.blockNumber, false]);
  const time = String(fieldsOf(result).timestamp);
  const unit = secondsOf(time) === Number(time) ? "seconds" : "nanoseconds";
  world.answers.quorumLedger = { ...world.answers.quorumLedger, clock: unit };
  return unit;
}

async function codeSize(world: World): Promise<string> {
  const fits = async (size: number) =>
    (await world.askNode("eth_call", [{ data: codeOf(size) }, "latest"])).result !== undefined;
  if (!(await fits(1))) return "not known: a call that deploys is refused";
  if (await fits(mostCode)) return `more than ${mostCode} bytes`;
  let [most, tooMuch] = [1, mostCode];
  while (tooMuch - most > 1) {
    const middle = Math.floor((most + tooMuch) / 2);
    if (await fits(middle)) most = middle;
    else tooMuch = middle;
  }
  world.answers.quorumLedger = { ...world.answers.quorumLedger, codeSize: most };
  return counted(most, "byte");
}

export const ofLedger: readonly Question[] = [
  { question: "The ledger's client", ask: client },
  { question: "Its hard fork", ask: ofNode(hardFork) },
  { question: "The clock of its blocks", ask: ofNode(clock) },
  { question: "The largest code", ask: ofNode(codeSize) },
];
