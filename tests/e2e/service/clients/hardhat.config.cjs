// The network as hardhat's own configuration has it: nothing is said of fees.
const given = JSON.parse(process.env.CLIENT_INPUT ?? "{}");
module.exports = {
  solidity: "0.8.19",
  networks: {
    ledger: {
      url: given.rpc ?? "",
      httpHeaders: { authorization: given.authorization },
      accounts: [given.key].filter(Boolean),
    },
  },
};
