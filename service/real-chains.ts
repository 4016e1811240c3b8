import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Context } from "./context";
import type { Resolved } from "./settings/options";
import { findAnvil } from "./ledger/binary";
import { Chains } from "./ledger/chains";
import { Ledger } from "./ledger/real-ledger";
import { AccountKeys } from "./tether/account-keys";
import { Anchors } from "./tether/real-tethers";
import { isTarget, Targets } from "./tether/targets";
import { Proxy } from "./ledger/node-endpoint";

/** `missing`: wanted, but its program is not on this machine. */
export type LedgerState = "on" | "off" | "missing";

/** What runs beside the API where there is a ledger. */
export interface OpenLedger {
  /** Puts the nodes' addresses under the service. */
  serve(app: FastifyInstance): Promise<void>;
  /** Drops the WebSockets to nodes. */
  drop(): void;
  /** Goes on where the last run of the service ended. */
  resume(): void;
  close(): Promise<void>;
}

/** Puts the real chains under the API, if they are wanted and can be had. */
export function openLedger({ ledger: wanted, dataDir }: Resolved, context: Context): OpenLedger | undefined {
  if (!wanted) return undefined;
  const anvil = findAnvil(wanted.anvil);
  if (anvil === undefined) {
    context.noLedger = "its program, the optional package @foundry-rs/anvil, is not installed for this platform";
    return undefined;
  }
  const keys = new AccountKeys(dataDir && join(dataDir, "accounts"));
  const chains = new Chains(anvil, dataDir && join(dataDir, "chains"), context.warn);
  const ledger = new Ledger(context, chains);
  const proxy = new Proxy(context, ledger);
  const targets = new Targets(chains, wanted.targets ?? {}, () => context.origin());
  const anchors = new Anchors(context, ledger, targets, keys);
  const unswept = (error: Error) => context.warn(`A ledger that nobody needs could not be removed: ${error.message}.`);
  context.ledger = ledger;
  context.anchors = anchors;
  context.targets = targets;
  context.removed = (entities) => {
    proxy.sockets.drop(new Set(entities.map(({ id }) => id)));
    for (const { kind, id } of entities) if (kind === "environment") chains.erase(id).catch(unswept);
  };
  return {
    serve: (app) => proxy.serve(app),
    drop: () => proxy.sockets.close(),
    resume() {
      chains.sweep((key) => isTarget(key) || context.store.get("environment", key) !== undefined).catch(unswept);
      ledger.resume();
      anchors.resume();
    },
    async close() {
      await anchors.close();
      await chains.close();
    },
  };
}
