import { join } from "node:path";
import type { Backend, Base, LedgerState } from "./context";
import { Refusal } from "./errors";
import { admitted, nodePath } from "./http/authentication";
import { usualPace } from "./ledger/chain-base";
import { Chains } from "./ledger/chains";
import { findAnvil, whyNoLedger } from "./ledger/engine";
import { RealLedger, registerOf, SimulatedLedger } from "./store/ledgers";
import { NodeEndpoint } from "./http/node-endpoint";
import type { ResolvedOptions } from "./settings/options";
import { AccountKeys } from "./tether/accounts";
import { RealTethers } from "./tether/real-tethers";
import { SimulatedTethers } from "./tether/simulated-tethers";
import { isTarget, Targets } from "./tether/targets";

/** Real chains if requested and available, otherwise a simulation. */
export function openBackend({ ledger: wanted, data }: ResolvedOptions, base: Base): Backend {
  if (!wanted) return simulation(base, "off", "it is switched off");
  const anvil = findAnvil(wanted.anvil);
  if (anvil === undefined) return simulation(base, "missing", whyNoLedger());
  return realChains(base, anvil, data, wanted);
}

function simulation(base: Base, state: LedgerState, why: string): Backend {
  const ledger = new SimulatedLedger(base);
  return {
    state,
    ledger,
    tethers: new SimulatedTethers(base, ledger),
    serveNodes(app) {
      app.all(nodePath, (request, reply) => {
        const { found: node } = admitted("node", base.store, request, reply);
        throw new Refusal(501, `No ledger is attached to the node ${node.id}: ${why}.`);
      });
    },
  };
}

type LedgerSettings = NonNullable<ResolvedOptions["ledger"]>;

function realChains(base: Base, anvil: string, data: string | undefined, settings: LedgerSettings): Backend {
  const { targets: addresses = {}, idleAfter: idle = usualPace.idle } = settings;
  const keys = new AccountKeys(data && join(data, "accounts"), base.store);
  const { callLimits } = base.settings;
  const pace = { ...usualPace, idle };
  const chains = new Chains(
    anvil,
    data && join(data, "chains"),
    registerOf(base.store),
    base.warn,
    callLimits.memory,
    pace,
  );
  const ledger = new RealLedger(base, chains);
  const nodes = new NodeEndpoint(base, ledger);
  const targets = new Targets(chains, addresses, () => base.origin());
  const tethers = new RealTethers(base, ledger, targets, keys);
  const unswept = (error: Error) =>
    base.warn(`A ledger without an environment could not be removed: ${error.message}.`);
  return {
    state: "on",
    ledger,
    tethers,
    targets,
    serveNodes: (app) => nodes.serve(app),
    removed(entities) {
      nodes.removed(new Set(entities.map(({ id }) => id)));
      const gone = entities.filter(({ kind }) => kind === "environment");
      if (gone.length === 0) return;
      const erased = base.store.synced().then(() => Promise.all(gone.map(({ id }) => chains.erase(id))));
      erased.catch(unswept);
    },
    drop: () => nodes.close(),
    resume() {
      chains.sweep((key) => isTarget(key) || base.store.get("environment", key) !== undefined).catch(unswept);
      ledger.resume();
      tethers.resume();
    },
    async close() {
      await tethers.close();
      await chains.close();
    },
  };
}
