import { z } from "zod";
import { isApiError } from "../../provider/api";
import { tetherNetworks } from "../../provider/constants";
import type { Actions } from "../protocol";
import { Refused } from "./access";
import type { Observer, ObserverOptions } from "./observer";

const name = z.string().trim().min(1).max(200);
const id = z.string().min(1).max(100);

/** What each action must be asked with. */
const asks = {
  verify: z.object({ tether: id, index: z.int().min(0) }),
  "make-key": z.object({ name }),
  "revoke-key": z.object({ id }),
  "order-tether": z.object({ environment: name.optional() }),
  "fund-tether": z.object({ tether: id, network: z.enum(tetherNetworks), wei: z.string().regex(/^[1-9]\d{0,38}$/) }),
  "make-credential": z.object({ consortium: id, environment: id, membership: id, name: name.optional() }),
  "add-fault": z.looseObject({ kind: id }),
  "remove-fault": z.object({ id }),
};
type Name = keyof typeof asks;

/** Carries out what a page asks for. @throws Refused with a sentence for the page */
export async function act(action: string, body: unknown, options: ObserverOptions, observer: Observer) {
  if (!Object.hasOwn(asks, action)) throw new Refused(404, "There is no such action.");
  const asked = asks[action as Name].safeParse(body);
  if (!asked.success) throw new Refused(400, `That is not valid: ${z.prettifyError(asked.error)}`);
  try {
    return await carryOut(action as Name, asked.data as never, options, observer);
  } catch (error) {
    if (isApiError(error)) throw new Refused(502, error.message);
    throw error;
  }
}

async function carryOut<N extends Name>(
  action: N,
  asked: Actions[N]["ask"],
  { client, embedded, mayChange }: ObserverOptions,
  observer: Observer,
): Promise<unknown> {
  const given = asked as never;
  const own = () => {
    if (!embedded) throw new Refused(403, "Only the embedded service can do this by API.");
    return embedded;
  };
  if (action === "verify") {
    const { tether, index }: Actions["verify"]["ask"] = given;
    return observer.verify(tether, index);
  }
  if (!mayChange) throw new Refused(403, "This console only looks: start it with --allow-changes.");
  switch (action) {
    case "make-key": {
      const { name }: Actions["make-key"]["ask"] = given;
      return { name, secret: (await own().makeKey(name)).key };
    }
    case "revoke-key":
      return (await own().revokeKey((given as Actions["revoke-key"]["ask"]).id)) ?? {};
    case "order-tether": {
      const { id } = await own().orderTether((given as Actions["order-tether"]["ask"]).environment);
      return { id };
    }
    case "fund-tether": {
      const { tether, network, wei }: Actions["fund-tether"]["ask"] = given;
      return { balanceWei: (await own().fund(tether, network, wei)).balance };
    }
    case "add-fault":
      return own().addFault(given);
    case "remove-fault":
      return (await own().removeFault((given as Actions["remove-fault"]["ask"]).id)) ?? {};
    default: {
      const { consortium, environment, membership, name }: Actions["make-credential"]["ask"] = given;
      const body = { membership_id: membership, ...(name !== undefined && { name }) };
      const made = await client.createAppCred(consortium, environment, body);
      return { name: made.username ?? made.id, secret: made.password };
    }
  }
}
