import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Transaction from "ethers/transaction";
import { z } from "zod";
import { ServiceError } from "../errors";
import { jsonText, replaceFile } from "../store/files";

const ether = 10n ** 18n;
const genesisText = jsonText.pipe(
  z.looseObject({ alloc: z.record(z.string(), z.looseObject({ secretKey: z.string().optional() })) }),
);

/**
 * The chain's genesis, with the accounts that it signs for: made once, of random keys that are in this file alone. Given to the
 * chain as a file, a key is in no process list and no log.
 */
export function ensureGenesis(dir: string, chainId: number, accounts: number): string {
  const file = join(dir, "genesis.json");
  if (!existsSync(file)) replaceFile(file, JSON.stringify(genesis(chainId, accounts)));
  else if (!genesisText.safeParse(readFileSync(file, "utf8")).success) {
    throw new ServiceError(
      `${file} is damaged: it holds the keys of the chain's accounts. Restore it, or remove the folder to begin a new chain.`,
    );
  }
  return file;
}

function genesis(chainId: number, accounts: number) {
  const { computeAddress } = createRequire(__filename)("ethers/transaction") as typeof Transaction;
  const alloc = Array.from({ length: accounts }, () => {
    const secretKey = `0x${randomBytes(32).toString("hex")}`; // all but a vanishing few of them are valid
    return [computeAddress(secretKey), { balance: `0x${(10_000n * ether).toString(16)}`, secretKey }] as const;
  });
  const timestamp = `0x${Math.floor(Date.now() / 1_000).toString(16)}`;
  return { config: { chainId }, timestamp, difficulty: "0x0", gasLimit: "0x1c9c380", alloc: Object.fromEntries(alloc) };
}
