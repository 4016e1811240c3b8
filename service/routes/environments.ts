import { randomInt } from "node:crypto";
import { z } from "zod";
import { show } from "./responses";
import { description, name } from "../http/bodies";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { Refusal } from "../errors";
import { resource } from "./resource";
import { stateAt } from "../store/states-over-time";

const protocols = { quorum: ["raft", "ibft"], geth: ["poa"] } as const;
const blockPeriods = { raft: 1, ibft: 5, poa: 10 };

export const environment = resource({
  kind: "environment",
  parents: ["consortium"],
  create: z.object({
    provider: z.enum(["quorum", "geth"]),
    consensus_type: z.enum(["raft", "ibft", "poa"]),
    name: name.optional(),
    description: description.optional(),
    chain_id: z.number().int().positive().optional(),
    block_period: z.number().int().min(1).max(3_600).optional(),
    release_id: name.optional(),
  }),
  patch: z.object({ name: name.optional(), description: description.nullable().optional() }),
  limit: "environments",
  make(_making, body) {
    const allowed: readonly string[] = protocols[body.provider];
    if (!allowed.includes(body.consensus_type)) {
      const choice = allowed.join(" or ");
      throw new Refusal(400, `consensus_type ${body.consensus_type} does not go with ${body.provider}: use ${choice}.`);
    }
    return {
      fields: {
        ...body,
        chain_id: body.chain_id ?? randomInt(1_000_000_000, 2_000_000_000),
        initial_delay: 0,
        idle_hours: 0,
        enable_tether: false,
        block_period: body.block_period ?? blockPeriods[body.consensus_type],
        region: "local",
        release_id: body.release_id ?? `${body.provider}-1`,
      },
    };
  },
  view(context, entity, at) {
    const nodes = context.store.listed("node", entity.id, at);
    const list = { state: environmentState(context, entity, at), node_list: nodes.map(({ id }) => id) };
    return show(context, entity, { ...entity.fields, accountOwners: undefined, ...list }, at);
  },
  blocker({ settings, clock }, entity) {
    const early = settings.answers.refuseEarlyDelete && stateAt(entity, clock()) === "initializing";
    return early ? "it is still initializing" : undefined;
  },
});

/** An environment is live as soon as one of its nodes is started. */
export function environmentState({ store }: Context, entity: Entity<"environment">, at: number): string {
  const state = stateAt(entity, at);
  const started = () => store.listed("node", entity.id, at).some((node) => stateAt(node, at) === "started");
  return state === "setup" && started() ? "live" : state;
}
