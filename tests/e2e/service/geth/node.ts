import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../support/network";
import { until } from "../../../support/until";
import { blockGas } from "../../../../service/ledger/admission";
import { goProgram } from "../../support/go";

const execute = promisify(execFile);

const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
const headers = { "content-type": "application/json" };
const answers = (url: string) =>
  fetch(url, { method: "POST", headers, body }).then(
    () => true,
    () => false,
  );

interface Geth {
  url: string;
  wss: string;
  ready: () => Promise<void>;
  end: () => Promise<void>;
}

/** The account that a geth for developers signs for. */
const developer = "0x71562b71999873db5b286df957af199ec94617f7";

/** A real geth with the rules of London, which makes a block of each transaction. @param alloc the accounts of its genesis */
export async function realGeth(chainId: number, alloc: object): Promise<Geth> {
  const target = "github.com/ethereum/go-ethereum/cmd/geth";
  const geth = await goProgram({ what: "geth", name: "geth", module: __dirname, target });
  const folder = mkdtempSync(join(tmpdir(), "geth-"));
  const names = "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london".split(" ");
  const forks = Object.fromEntries([...names, "mergeNetsplit"].map((name) => [`${name}Block`, 0]));
  const config = { chainId, ...forks, terminalTotalDifficulty: 0 };
  const genesis = { config, difficulty: "0x0", gasLimit: "0x1c9c380", baseFeePerGas: "0x0" };
  writeFileSync(
    join(folder, "genesis.json"),
    JSON.stringify({ ...genesis, alloc: { ...alloc, [developer]: { balance: "0x21e19e0c9bab2400000" } } }),
  );
  const data = ["--datadir", folder];
  await execute(geth, [...data, "init", join(folder, "genesis.json")], { maxBuffer: 2 ** 24 });
  const port = await freePort();
  const http = ["--http", "--http.port", `${port}`, "--http.api", "eth,net,web3,debug,txpool"];
  const ws = ["--ws", "--ws.port", `${await freePort()}`];
  const alone = ["--dev", "--ipcdisable", "--nodiscover", "--authrpc.port", `${await freePort()}`];
  const same = ["--networkid", `${chainId}`, "--miner.gaslimit", `${blockGas}`];
  const child = spawn(geth, [...data, ...alone, ...same, ...http, ...ws], { stdio: "ignore" });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  const url = `http://127.0.0.1:${port}`;
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const ready = () =>
    until(() => {
      if (child.exitCode !== null) throw new Error(`geth ended with ${child.exitCode}`);
      return answers(url);
    });
  return { ready, url, wss: `ws://127.0.0.1:${ws[2]}`, end };
}
