import { accountIn, contractOn, countIn, type Fact, tetherIn, type TetherAccount } from "../../../provider/api/tether";

/* What the answers of a service about a tether mean. The specification shows no shapes. */

const account = "0x52908400098527886E0F7030069857D2E4169EE7";
const contract = `0x${"c0".repeat(20)}`;
const ether = "1000000000000000000";
const at = (balanceWei?: string): TetherAccount => ({ account, balanceWei });

test.each<[unknown, TetherAccount]>([
  [{ address: account, balance: ether }, at(ether)],
  [{ account, balance: "0" }, at("0")],
  [{ account, balance: 1e18 }, at(ether)],
  [{ account, balance: "0xde0b6b3a7640000" }, at(ether)],
  [{ account, balance_wei: ether }, at(ether)],
  [{ account, balanceEth: "1.0", balance_wei: ether }, at(ether)],
  [{ account, balances: { rinkeby: "7" }, balance: "5" }, at("5")],
  [{ account: { address: account, balance: "5" } }, at("5")],
  [{ result: { account, balance: "5" } }, at("5")],
  [{ account, rinkeby: "5" }, at("5")],
  [{ account, balanceWei: "5", balance: "6" }, at()],
  [{ account, balance: 1.5 }, at()],
  [{ account, balance: "1.5" }, at()],
  [{ account, nonce: 5, network: "rinkeby" }, at()],
  [{ gasPriceWei: "1000000000", balance: "0", account }, at("0")],
  [{ contract_address: contract, address: account, balance: "5" }, at("5")],
  [{ config: { arbitratorAddress: contract }, account: { address: account } }, at()],
  [{ contract_address: contract, balance: "5" }, { balanceWei: "5" }],
  [{ address: account, account: contract }, {}],
  [{ address: "0x1234", balance: "5" }, { balanceWei: "5" }],
  [account, { account }],
  [ether, { balanceWei: ether }],
  [5, { balanceWei: "5" }],
  [null, {}],
  ["<html>", {}],
])("an account, by the names of its fields: %j", (answer, read) => expect(accountIn(answer, "rinkeby")).toEqual(read));

test.each<[unknown, number | undefined]>([
  [5, 5],
  ["7", 7],
  [{ count: 5 }, 5],
  [{ tether_id: "3", reportCount: 7 }, 7],
  [{ data: { count: 7 } }, 7],
  [{ data: 7 }, 7],
  [{ tether_id: "t", number: 7 }, undefined],
  [{ count: 7, total: 9 }, undefined],
  [{ count: "many" }, undefined],
  [-1, undefined],
  [null, undefined],
  [[7], undefined],
])("the number of reports in %j is %j", (answer, count) => expect(countIn(answer)).toBe(count));

test.each<[string, unknown, object]>([
  [
    "plain settings",
    { network: "Rinkeby", interval: "2", state: "Running" },
    { network: "rinkeby", interval: { hours: [2, 2 / 60], isUntold: false }, state: "active" },
  ],
  [
    "a configuration",
    { config: { targetNetwork: "rinkeby", uploadInterval: 120, arbitratorAddress: contract, started: true } },
    { network: "rinkeby", interval: { hours: [120, 2], isUntold: true }, contract, state: "active" },
  ],
  ["a configuration that is stopped", { config: { started: false } }, { state: "inactive" }],
  ["a configuration of nothing", { config: { arbitratorAddress: null, started: "no" } }, {}],
  ["one that is both", { state: "initial", active: true }, { state: "active" }],
  ["a state in other words", { status: "suspended" }, { state: "inactive" }],
  ["a state that passes", { state: "provisioning" }, { state: "configured" }],
  ["a state in unknown words", { state: "odd", status: "ok" }, { unclear: ["state"] }],
  ["an unknown status", { status: "ok" }, {}],
  ["minutes, by name", { intervalMinutes: 120 }, { interval: { hours: [2], isUntold: false } }],
  ["minutes, in words", { upload_interval: "120 minutes" }, { interval: { hours: [2], isUntold: false } }],
  ["hours, by name", { interval_hours: 2 }, { interval: { hours: [2], isUntold: false } }],
  ["seconds, in words", { interval: "7200s" }, { interval: { hours: [2], isUntold: false } }],
  ["both units", { interval: 2, intervalMinutes: 120 }, { interval: { hours: [2], isUntold: false } }],
  ["intervals that differ", { interval: 3, intervalMinutes: 120 }, {}],
  ["networks that differ", { network: "mainnet", targetNetwork: "rinkeby" }, {}],
  ["values that are none", { network: "", interval: 0, contract_address: `0x${"0".repeat(40)}`, deployed: false }, {}],
  ["an address in another form", { contractAddress: "4f5e" }, { unclear: ["contractAddress"] }],
  ["a contract in an unknown field", { deployTransaction: contract }, { unclear: ["deployTransaction"] }],
  ["nothing", "text", {}],
])("of a tether: %s", (_, answer, shown) =>
  expect(JSON.parse(JSON.stringify(tetherIn(answer)))).toEqual({ unclear: [], ...shown }),
);

describe("whether there is a contract on rinkeby", () => {
  test.each<[unknown, Fact | undefined]>([
    [{}, undefined],
    [{ network: "rinkeby", state: "initial", deployed_networks: [], contracts: {} }, "no"],
    [{ config: { targetNetwork: "rinkeby", uploadInterval: 2, started: false, nodelist: [] } }, undefined],
    [{ deployed_networks: ["mainnet", "Rinkeby"] }, "yes"],
    [{ deployed_networks: ["mainnet"] }, "no"],
    [{ deployedNetworks: [{ network: "rinkeby", address: contract }] }, "yes"],
    [{ contracts: [{ network: "Rinkeby", contract_address: contract }] }, "yes"],
    [{ contracts: [{ network: "mainnet", address: contract }] }, "no"],
    [{ contracts: { rinkeby: { address: contract } } }, "yes"],
    [{ contracts: { mainnet: contract, rinkeby: "" } }, "no"],
    [{ deployments: { rinkeby: 1 } }, "yes"],
    [{ deployed_networks: [], contracts: { rinkeby: contract } }, "yes"],
    [{ network: "Rinkeby", contract_address: contract }, "yes"],
    [{ network: "rinkeby", deployed: true }, "yes"],
    [{ network: "rinkeby", state: "deployed" }, "yes"],
    [{ network: "rinkeby", state: "active", deployed_networks: [] }, "yes"],
    [{ network: "mainnet", contract_address: contract, state: "active" }, undefined],
    [{ network: "rinkeby", state: "inactive" }, undefined],
    [{ state: "active" }, "unclear"],
    [{ contract_address: contract }, "unclear"],
    [{ network: "rinkeby", state: "odd" }, "unclear"],
    [{ deployed_networks: "rinkeby" }, "unclear"],
    [{ deployed_networks: ["mainnet", 4] }, "unclear"],
    [{ deployed_networks: ["ethereum-rinkeby"] }, "unclear"],
    [{ contracts: [contract] }, "unclear"],
    [{ contracts: { rinkeby: { at: 3 } } }, "unclear"],
    [{ contracts: { rinkeby: "soon" } }, "unclear"],
    [{ network: "rinkeby", contractHash: "0x12" }, "unclear"],
  ])("%j: %s", (answer, fact) => expect(contractOn(tetherIn(answer), "rinkeby")).toBe(fact));

  const own = { network: "rinkeby", contract_address: contract };
  test.each<[object, string | undefined, Fact | undefined]>([
    [own, undefined, "unclear"],
    [own, contract, undefined],
    [own, `0x${"d0".repeat(20)}`, "yes"],
    [{ contract_address: contract }, undefined, "unclear"],
    [{ contract_address: contract }, contract, undefined],
    [{ network: "rinkeby", state: "active" }, undefined, "unclear"],
    [{ network: "rinkeby", deployed: true }, contract, "unclear"],
    [{ state: "active" }, undefined, undefined],
    [{ deployed_networks: ["sepolia"] }, undefined, "no"],
    [{ deployed_networks: ["rinkeby"] }, undefined, "yes"],
  ])("%j, after one on sepolia at %s: %s", (answer, elsewhere, fact) =>
    expect(contractOn(tetherIn(answer), "Rinkeby", ["Sepolia"], elsewhere)).toBe(fact),
  );
});
