import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { Wallet } from "ethers";
import { fillCacheFolder } from "../../../tools/lib/cache.mjs";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";
import { basic } from "../../service/helpers";
import { ledgered, result } from "../../service/ledgers";
import { programOf } from "../support/backends/programs";
import { installFromPyPI } from "../support/pypi";
import { goProgram } from "../support/go";
import { patiently } from "../../support/jest/patience";

/*
 * Real client libraries on a ledger, each in a process of its own and with its own defaults: an account without money deploys a
 * contract, sends to it in ten blocks, reads its events, hears of all of them over a WebSocket and over HTTP, sees why a call reverts,
 * and makes a batch.
 */

jest.setTimeout(1_800_000); // the first time, the client in Go is built

const execute = promisify(execFile);
const folder = join(__dirname, "clients");

/** The folder with the packages of `clients`, in the user's cache: they are too heavy for everybody's `npm ci`. */
async function packages(): Promise<string> {
  const lock = readFileSync(join(folder, "package-lock.json"));
  const home = join(cacheRoot(), `ethereum-clients-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
  await fillCacheFolder(home, {
    what: "Ethereum's client libraries",
    isWhole: () => existsSync(home),
    async fill(draft) {
      for (const file of ["package.json", "package-lock.json"]) cpSync(join(folder, file), join(draft, file));
      const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
      await execute("npm", args, { cwd: draft, maxBuffer: 2 ** 26, timeout: 900_000 });
    },
  });
  return home;
}

const copies: string[] = [];
afterAll(() => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })));

/** A script runs from a copy below its packages: Node looks there before it looks into this repository's. */
const node = (script: string) => async () => {
  const copy = mkdtempSync(join(await packages(), "scripts-"));
  copies.push(copy);
  for (const file of [script, "run.cjs", "hardhat.config.cjs"]) cpSync(join(folder, file), join(copy, file));
  return { command: process.execPath, args: [join(copy, script)] };
};

const python = (script: string) => async () => {
  const bin = await installFromPyPI("python-web3", join(folder, "requirements.txt"));
  return { command: join(bin, "python"), args: [join(folder, script)] };
};

/** web3j, from Maven, and its program, in the user's cache. */
async function java(): Promise<{ command: string; args: string[] }> {
  const files = ["pom.xml", "Client.java"].map((name) => join(folder, "web3j", name));
  const hash = createHash("sha256")
    .update(files.map((file) => readFileSync(file, "utf8")).join())
    .digest("hex");
  const home = join(cacheRoot(), `web3j-${hash.slice(0, 12)}`);
  const command = await programOf("java", "default-jdk-headless");
  await fillCacheFolder(home, {
    what: "web3j",
    isWhole: () => existsSync(home),
    async fill(draft) {
      for (const file of files) cpSync(file, join(draft, basename(file)));
      const jars = ["dependency:copy-dependencies", `-DoutputDirectory=${join(draft, "lib")}`];
      const options = { cwd: draft, maxBuffer: 2 ** 26, timeout: 900_000 };
      await execute(await programOf("mvn", "maven"), ["--batch-mode", "--quiet", ...jars], options);
      const compiler = await programOf("javac", "default-jdk-headless");
      await execute(compiler, ["-cp", join(draft, "lib", "*"), join(draft, "Client.java")], options);
    },
  });
  return { command, args: ["-cp", `${home}:${join(home, "lib", "*")}`, "Client"] };
}

const topic = "c6d8c0af6d21f291e7c359603aa97e0ed500f04db6e983b9fce75a91c6b8da6b";
const reason = Buffer.from("no such thing").toString("hex");
/** `set(uint256)` keeps a value and logs it, `get()` returns it, and all else reverts with a reason. */
const runtime = [
  "60003560e01c", // the selector
  "806360fe47b11461006f57", // set
  "80636d4ce63c146100a257", // get
  `7f08c379a0${"0".repeat(56)}600052602060045260${(reason.length / 2).toString(16).padStart(2, "0")}602452`,
  `6c${reason}60981b60445260646000fd`,
].join("");
const at = (size: number) => size.toString(16).padStart(4, "0");
const begin = runtime.length / 2;
const set = `5b600435806000556000527f${topic}60206000a100`;
const get = `5b60005460005260206000f3`;
const code =
  runtime.replace("61006f57", `61${at(begin)}57`).replace("6100a257", `61${at(begin + set.length / 2)}57`) + set + get;
const bytecode = `0x61${at(code.length / 2)}80600a3d393df3${code}`;
const uint = (name: string) => [{ name, type: "uint256", internalType: "uint256" }];
const abi = [
  { type: "function", name: "set", stateMutability: "nonpayable", inputs: uint("value"), outputs: [] },
  { type: "function", name: "get", stateMutability: "view", inputs: [], outputs: uint("") },
  { type: "function", name: "fail", stateMutability: "view", inputs: [], outputs: uint("") },
  { type: "event", name: "Stored", anonymous: false, inputs: [{ ...uint("value")[0], indexed: false }] },
];

const goClient = { what: "The client in Go", name: "client", target: "./client", files: ["client/main.go"] };
const clients: [string, () => Promise<{ command: string; args: string[] }>][] = [
  ["web3 1.10", node("web3.cjs")],
  ["ethers 5", node("ethers5.cjs")],
  ["ethers 6", node("ethers6.cjs")],
  ["hardhat 2", node("hardhat.cjs")],
  ["Truffle", node("truffle.cjs")],
  ["viem", node("viem.cjs")],
  ["web3.py", python("web3py.py")],
  ["cast", node("cast.cjs")],
  ["web3j", java],
  [
    "go-ethereum",
    async () => ({ command: await goProgram({ ...goClient, module: join(__dirname, "geth") }), args: [] }),
  ],
];

const values = Array.from({ length: 10 }, (_, at) => at + 1);
/** The parts of this package, for a script that lies elsewhere. */
const own = { ethers6: require.resolve("ethers"), sdk: join(__dirname, "../../../dist/sdk/index.js") };

describe.each([
  { provider: "quorum", consensus_type: "raft" },
  { provider: "geth", consensus_type: "poa", block_period: 1 },
])("on $provider with $consensus_type", (environment) => {
  test.each(clients)("%s works with its default settings", async (_name, prepared) => {
    const { command, args } = await prepared();
    const { credential, urls } = await ledgered({}, environment);
    const chainId = Number(await result(urls.rpc, credential, "eth_chainId"));
    const { authorization } = basic(credential.username, credential.password);
    const { privateKey: key } = Wallet.createRandom();
    const running = execute(command, args, { timeout: patiently(240_000), maxBuffer: 2 ** 24 });
    running.child.stdin!.end(JSON.stringify({ ...urls, ...own, authorization, abi, bytecode, key, chainId, values }));
    const { stdout } = await running;
    const told = JSON.parse(stdout.trim().split("\n").at(-1)!) as object;
    const failure = expect.stringContaining("no such thing") as string;
    expect(told).toEqual({ value: 10, status: 1, past: values, heard: values, polled: values, failure, chainId });
  });
});
