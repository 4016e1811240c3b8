// hardhat 2: its provider signs, and chooses all fees. It has no subscriptions of its own over HTTP: a filter is polled.
const { given, run, until } = require("./run.cjs");
process.env.CLIENT_INPUT = JSON.stringify(given);
process.env.HARDHAT_CONFIG = `${__dirname}/hardhat.config.cjs`;
process.env.HARDHAT_NETWORK = "ledger";
process.env.HARDHAT_DISABLE_TELEMETRY_PROMPT = "true";
const { network } = require("hardhat");
const { ethers } = require("ethers");
const { abi, bytecode, values } = given;

run(async () => {
  const ask = (method, ...params) => network.provider.request({ method, params });
  const coder = new ethers.utils.Interface(abi);
  const mined = (hash) => until(() => ask("eth_getTransactionReceipt", hash));
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
  const chainId = await ask("eth_chainId");
  return { value, status, past, heard: polled, polled, failure, chainId };
});
