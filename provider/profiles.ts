/*
 * Properties of each client's ledger, in one table. `npm run generate` writes the copy of the embedded service, which
 * imports nothing of this package, and the table of docs/service.md. None of it was seen on the hosted service;
 * `consortium probe` asks.
 */

/** Hard forks of Ethereum, the oldest first, each with the fields that it adds to a block's header. */
export const hardForks = {
  istanbul: [],
  berlin: [],
  london: ["baseFeePerGas"],
  paris: [],
  shanghai: ["withdrawals", "withdrawalsRoot"],
  cancun: ["blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot"],
  prague: ["requestsHash"],
} as const;

export type HardFork = keyof typeof hardForks;

export interface Profile {
  /** The protocol whose headers its blocks have. */
  consensus: "raft" | "ibft" | "ibft2" | "clique";
  /** The latest hard fork that is active. */
  hardFork: HardFork;
  /** Largest code of a contract, in bytes. */
  codeSize: number;
  /** The unit of a block's timestamp. */
  clock: "seconds" | "nanoseconds";
  /** Answer to `web3_clientVersion`. */
  clientVersion: string;
  /** Answer to `eth_gasPrice`, in wei. */
  gasPrice: number;
  /** Whether a transaction may have another price than 0. */
  gasPriceEnabled: boolean;
  /** Largest transaction, in bytes. */
  transactionSize: number;
  /** How many of the latest blocks have a state that calls can read. */
  history: number;
}

const berlin = { hardFork: "berlin", clock: "seconds", gasPrice: 0, history: 128 } as const;
const others = { ...berlin, codeSize: 24_576, gasPriceEnabled: true, transactionSize: 131_072 };
const quorum: Omit<Profile, "consensus"> = {
  ...berlin,
  codeSize: 32_768,
  gasPriceEnabled: false,
  transactionSize: 65_536,
  clientVersion: "Geth/v1.10.3-stable(quorum-v23.4.0)/linux-amd64/go1.20",
};
const geth = { ...others, clientVersion: "Geth/v1.10.26-stable/linux-amd64/go1.18.5" };
const besu = { ...others, clientVersion: "besu/v21.1.7/linux-x86_64/openjdk-java-11" };

/** By provider and consensus protocol. */
export const profiles: Readonly<Record<string, Readonly<Record<string, Profile>>>> = {
  quorum: {
    raft: { ...quorum, consensus: "raft", clock: "nanoseconds" },
    ibft: { ...quorum, consensus: "ibft" },
  },
  geth: { poa: { ...geth, consensus: "clique" } },
  pantheon: { ibft: { ...besu, consensus: "ibft2" }, poa: { ...besu, consensus: "clique" } },
};

/** Whether a hard fork is active where another one is the latest. */
export const hasFork = (latest: HardFork, fork: HardFork): boolean => order.indexOf(fork) <= order.indexOf(latest);
const order = Object.keys(hardForks);

/** The fields of a block's header that not every hard fork has. */
export const headerFields = (latest: HardFork): string[] =>
  Object.entries(hardForks).flatMap(([fork, fields]) => (hasFork(latest, fork as HardFork) ? [...fields] : []));

/** Seconds as a number may be, until the year 33,658; a timestamp beyond is in nanoseconds. */
const mostSeconds = 1e12;

/** A block's time in seconds, whatever its unit. */
export function secondsOf(timestamp: string | number | bigint): number {
  const time = Number(timestamp);
  return time > mostSeconds ? time / 1e9 : time;
}
