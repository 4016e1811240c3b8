// hardhat 2: its provider signs, and chooses all fees. It has no subscriptions of its own over HTTP: a filter is polled.
const { readFileSync } = require("node:fs");
const input = readFileSync(0, "utf8");
process.env.CLIENT_INPUT = input;
process.env.HARDHAT_CONFIG = `${__dirname}/hardhat.config.cjs`;
process.env.HARDHAT_NETWORK = "ledger";
process.env.HARDHAT_DISABLE_TELEMETRY_PROMPT = "true";
const { network } = require("hardhat");
const { ethers } = require("ethers");
const { abi, bytecode, values } = JSON.parse(input);

async function main() {
  const ask = (method, ...params) => network.provider.request({ method, params });
  const coder = new ethers.utils.Interface(abi);
  const mined = async (hash) => {
    for (;;) {
      const receipt = await ask("eth_getTransactionReceipt", hash);
      if (receipt) return receipt;
      await new Promise((done) => setTimeout(done, 50));
    }
  };
  const [from] = await ask("eth_accounts");
  const { contractAddress: to } = await mined(await ask("eth_sendTransaction", { from, data: bytecode }));
  const filter = await ask("eth_newFilter", { address: to });
  const valuesOf = (logs) => logs.map((log) => coder.parseLog(log).args.value.toNumber());
  const polled = [];
  let status;
  for (const value of values) {
    ({ status } = await mined(
      await ask("eth_sendTransaction", { from, to, data: coder.encodeFunctionData("set", [value]) }),
    ));
    if (value % 3 === 0) polled.push(...valuesOf(await ask("eth_getFilterChanges", filter)));
  }
  polled.push(...valuesOf(await ask("eth_getFilterChanges", filter)));
  const past = valuesOf(await ask("eth_getLogs", { address: to, fromBlock: "0x0" }));
  const failure = await ask("eth_call", { from, to, data: coder.encodeFunctionData("fail") }).catch(
    ({ message }) => message,
  );
  const [value] = coder.decodeFunctionResult(
    "get",
    await ask("eth_call", { to, data: coder.encodeFunctionData("get") }),
  );
  const chainId = Number(await ask("eth_chainId"));
  console.log(
    JSON.stringify({ value: value.toNumber(), status: Number(status), past, heard: polled, polled, failure, chainId }),
  );
}
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
