import type * as Crypto from "ethers/crypto";
import type * as Transactions from "ethers/transaction";
import type * as Utils from "ethers/utils";
import { createRequire } from "node:module";

type Parts = typeof Crypto & typeof Transactions & typeof Utils;
const own = createRequire(__filename);
const load = (part: string) => own(`ethers/${part}`) as Parts;
let loaded: Parts | undefined;

/** The parts of ethers that ledgers need, loaded with their first use: all of it would take twice as long. */
export const ethers = () => (loaded ??= { ...load("crypto"), ...load("transaction"), ...load("utils") });
