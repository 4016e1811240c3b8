import type * as Ethers from "ethers";
import { UserError } from "../../provider/errors";

/** ethers, an optional peer that takes longer to load than this whole package. @throws if it is not installed, with the command */
export function ethers(): typeof Ethers {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous, so that `connect` is synchronous; bundlers see it
    return require("ethers") as typeof Ethers;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new UserError(
      "not-installed",
      "Install ethers: npm install ethers@6. Connecting to a node and verifying a report need it.",
      {
        cause: error,
      },
    );
  }
}

/** The message of a node, or a short one of ethers: without the address and the body that ethers adds. */
export function saidIn(error: unknown): string {
  const { error: inner, shortMessage, message, code } = error as Partial<Ethers.EthersError> & { error?: Error };
  return inner?.message ?? shortMessage ?? (message || code || String(error));
}
