import type * as Ethers from "ethers";
import { needPackages } from "../../optional/packages";

/* ethers is installed by those who use a ledger, and takes longer to load than this whole package. */

/** The library. @throws if it is not installed, with how to install it */
export function ethers(): typeof Ethers {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous, so that `connect` is too; bundlers see it
    return require("ethers") as typeof Ethers;
  } catch (error) {
    needPackages("Connecting to a node or verifying a report", "ethers");
    throw error;
  }
}
