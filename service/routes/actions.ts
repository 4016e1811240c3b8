import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { parse } from "../http/bodies";
import { stateAt } from "../store/entities";
import { library } from "../tether/transactions";
import { answer, itemPath, own, reach, show, viewOf } from "./crud";
import { addressText, credential, environment, environmentState, newPassword } from "./environments";

function weiOf(amount: string, unit: "ether" | "wei"): bigint {
  if (unit === "wei" && amount.includes(".")) throw new Refusal(400, "amount must be a whole number of wei.");
  const given = library().parseUnits(amount, unit);
  if (given >= 2n ** 128n) throw new Refusal(400, "amount must be below 2^128 wei.");
  return given;
}

/** Actions on objects that other clients use, besides changes. */
export function actionRoutes(app: FastifyInstance, context: Context): void {
  const { store, settings, clock, backend } = context;
  const strict = () => settings.quirks.strictBodies;
  const environmentOf = (request: FastifyRequest) => reach(context, request, ["consortium", "environment"])[2];

  app.get(`${itemPath(environment)}/status`, (request) => {
    const entity = environmentOf(request);
    const at = clock();
    const nodes = store.present("node", entity.id, at).map((node) => {
      return { [settings.quirks.idField]: node.id, state: stateAt(node, at) };
    });
    const { release_id } = entity.fields;
    return show(context, entity, { state: environmentState(context, entity, at), release_id, nodes }, at);
  });

  const amount = z.string().regex(/^\d{1,39}(\.\d{1,18})?$/, "must be a decimal number, as a text");
  const funding = z.object({ account: addressText, amount, unit: z.enum(["ether", "wei"]).default("ether") });
  app.post(`${itemPath(environment)}/eth/fundaccount`, async (request, reply) => {
    const { account, amount, unit } = parse(funding, request.body, strict());
    const given = weiOf(amount, unit);
    const entity = own(request, environmentOf(request));
    if (!backend.ledger.chain) throw new Refusal(501, "No ledger is attached, so accounts have no balance here.");
    if (store.children("node", entity.id).length === 0)
      throw new Refusal(409, `The environment ${entity.id} has no node yet, so it has no ledger.`);
    const chain = await backend.ledger.chain(entity);
    await chain.give(account.replace(/^(0x)?/i, "0x"), given);
    return answer(context, reply, 200, { account, amount, unit });
  });

  app.post(`${itemPath(credential)}/regenerate`, (request, reply) => {
    const found = own(request, reach(context, request, ["consortium", "environment", "credential"])[3]);
    parse(z.object({}), request.body, strict());
    const { password, passwordHash } = newPassword();
    const changed = store.setFields("credential", found.id, { passwordHash });
    backend.removed?.([changed]); // disconnects clients that used the old password
    const shown = { ...viewOf(context, credential, changed, clock()), password };
    return answer(context, reply, 200, shown, true);
  });
}
