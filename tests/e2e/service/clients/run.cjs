// What a client is given, and how it tells what it has found.
const { readFileSync } = require("node:fs");

const given = JSON.parse(readFileSync(0, "utf8"));
const credentials = Buffer.from(given.authorization.split(" ")[1], "base64").toString();
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (holds) => {
  for (;;) {
    const found = await holds();
    if (found) return found;
    await wait(50);
  }
};
/** @param main returns what it has found: the values, and what it was told of all events */
const run = (main) =>
  main().then(
    ({ value, status, chainId, ...told }) => {
      console.log(JSON.stringify({ value: Number(value), status: Number(status), chainId: Number(chainId), ...told }));
      process.exit();
    },
    (error) => (console.error(error), process.exit(1)),
  );
const called = (call) => new Promise((done, fail) => call((error, result) => (error ? fail(error) : done(result))));
/** Makes a call through a provider of web3 that has no promises. */
const ask = async (provider, method, ...params) =>
  (await called((done) => provider.send({ jsonrpc: "2.0", id: 1, method, params }, done))).result;
/** The results of calls of web3, made as one batch. */
const batched = (web3, ...calls) => {
  const batch = new web3.BatchRequest();
  const results = calls.map(([call, ...given]) => called((done) => batch.add(call.request(...given, done))));
  batch.execute();
  return Promise.all(results);
};

module.exports = { given, credentials, wait, until, run, ask, batched };
