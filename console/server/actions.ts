import { z } from "zod";
import { codedMessage, isApiError, tetherNetworks } from "pulumi-consortium/internal/console";
import type { Actions } from "../protocol";
import { Refused } from "./access";
import type { Embedded } from "./embedded";
import type { Observer, ObserverOptions } from "./observer";

const name = z.string().trim().min(1).max(200);
const id = z.string().min(1).max(100);

interface Tools extends ObserverOptions {
  observer: Observer;
  /** The embedded service. @throws Refused if the service is another one */
  own: () => Embedded;
}

type Name = Exclude<keyof Actions, "sign-out">;
interface Action<N extends Name = Name> {
  ask: z.ZodType<Actions[N]["ask"]>;
  carryOut: (asked: Actions[N]["ask"], tools: Tools) => Promise<Actions[N]["answer"]>;
}

/** The schema of each action's body, and its code. */
const actions: { [N in Name]: Action<N> } = {
  verify: {
    ask: z.object({ tether: id, index: z.int().min(0) }),
    carryOut: ({ tether, index }, { observer }) => observer.verify(tether, index),
  },
  "make-key": {
    ask: z.object({ name }),
    carryOut: async ({ name }, { own }) => ({ name, secret: (await own().makeKey(name)).key }),
  },
  "revoke-key": {
    ask: z.object({ id }),
    carryOut: async ({ id }, { own }) => (await own().revokeKey(id)) ?? {},
  },
  "order-tether": {
    ask: z.object({ environment: name.optional() }),
    carryOut: async ({ environment }, { own }) => ({ id: (await own().orderTether(environment)).id }),
  },
  "fund-tether": {
    ask: z.object({ tether: id, network: z.enum(tetherNetworks), wei: z.string().regex(/^[1-9]\d{0,38}$/) }),
    carryOut: async ({ tether, network, wei }, { own }) => ({
      balanceWei: (await own().fund(tether, network, wei)).balance,
    }),
  },
  "make-credential": {
    ask: z.object({ consortium: id, environment: id, membership: id, name: name.optional() }),
    async carryOut({ consortium, environment, membership, name }, { client }) {
      const body = { membership_id: membership, ...(name !== undefined && { name }) };
      const made = await client.createAppCred(consortium, environment, body);
      return { name: made.username ?? made.id, secret: made.password };
    },
  },
  "add-fault": { ask: z.looseObject({ kind: id }), carryOut: (rule, { own }) => own().addFault(rule) },
  "remove-fault": { ask: z.object({ id }), carryOut: async ({ id }, { own }) => (await own().removeFault(id)) ?? {} },
};

/** Carries out an action for a page. @throws Refused with a message for the page */
export async function act(name: string, body: unknown, options: ObserverOptions, observer: Observer) {
  if (!Object.hasOwn(actions, name)) throw new Refused(404, "This action does not exist.");
  const action = actions[name as Name] as Action;
  const asked = action.ask.safeParse(body);
  if (!asked.success) throw new Refused(400, `The input is not valid: ${z.prettifyError(asked.error)}`);
  if (!options.mayChange && name !== "verify")
    throw new Refused(403, "This console is read-only. To change things, start it with --allow-changes.");
  const own = () => {
    if (!options.embedded) throw new Refused(403, "Only the embedded service has an API for this.");
    return options.embedded;
  };
  try {
    return await action.carryOut(asked.data, { ...options, observer, own });
  } catch (error) {
    if (isApiError(error)) throw new Refused(502, codedMessage(error));
    throw error;
  }
}
