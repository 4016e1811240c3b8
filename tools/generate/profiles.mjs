// @ts-check
/** The table of ledgers: the embedded service's copy of it, and the table of docs/service.md. */
import { table, withPart } from "./markdown.mjs";
import { built } from "./types.mjs";

const source = "provider/profiles.ts";
const page = "docs/service.md";

/** @param {(file: string) => string} read @returns {Record<string, string>} file → text */
export function profileFiles(read) {
  const { profiles } = built("provider/profiles.js");
  const rows = Object.entries(profiles).flatMap(([provider, all]) =>
    Object.entries(all).map(([protocol, one]) => [
      `${provider}, ${protocol}`,
      one.hardFork,
      one.consensus,
      `${one.codeSize / 1_024} kB`,
      `${one.transactionSize / 1_024} kB`,
      one.clock === "seconds" ? one.clock : `seconds, or ${one.clock} with \`--like hosted\``,
      `${one.gasPriceEnabled ? "" : "only "}${one.gasPrice}`,
      `\`${one.clientVersion}\``,
    ]),
  );
  const head = ["ledger", "hard fork", "headers", "code", "transaction", "clock", "gas price", "client"];
  const copy = read(source).replace(
    /^\/\*[\s\S]*?\*\/\n/,
    "/* Written by `npm run generate` from provider/profiles.ts. */\n",
  );
  return { "service/profiles.ts": copy, [page]: withPart(page, read(page), source, table(head, rows)) };
}
