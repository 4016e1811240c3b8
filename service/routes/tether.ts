import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { organizationOf } from "../http/authentication";
import { parse } from "../http/bodies";
import { Refusal } from "../errors";
import { networks, type FieldsOf, type Network, type Wire } from "../store/entities";
import {
  boundEnvironment,
  deployedNetworks,
  environmentToPin,
  isDeployedOn,
  tetherState,
  type Tether,
} from "../tether/tethering";
import { answer, gone, supported, withUnknownFields } from "./crud";

const targetNetwork = z.object({ network: z.enum(networks) });
const interval = z.object({ interval: z.number().int().min(1) });
const nothing = z.object({});
/** Funds for a tether's account, which only this service can create. */
const funding = targetNetwork.extend({ wei: z.string().regex(/^[1-9]\d{0,38}$/, "must be wei, as a string") });

/** The anchoring API: configured, then deployed, then active, in that order. */
export function tetherRoutes(app: FastifyInstance, context: Context): void {
  const { store, settings, backend } = context;
  const { tethers } = backend;

  const target = (request: FastifyRequest): Tether => {
    const { tetherId } = request.params as { tetherId: string };
    const tether = store.get("tether", tetherId);
    if (tether?.parent !== organizationOf(request).id) throw gone(context, "tether service", tetherId);
    return tethers.current(tether);
  };
  const change = ({ id }: Tether, fields: Partial<FieldsOf["tether"]>) => store.setFields("tether", id, fields);
  const body = <T extends z.ZodRawShape>(rules: z.ZodObject<T>, request: FastifyRequest) =>
    parse(rules, request.body, settings.quirks.strictBodies);
  const get = (path: string, show: (tether: Tether, params: Record<string, string>) => unknown) =>
    app.get(`/tether/:tetherId${path}`, async (request, reply) => {
      const shown = await show(target(request), request.params as Record<string, string>);
      return reply.type("application/json").send(JSON.stringify(shown)); // a bare number is JSON too
    });
  const post = (path: string, act: (tether: Tether, request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.post(`/tether/:tetherId${path}`, (request, reply) => act(target(request), request, reply));

  const show = (tether: Tether) => {
    const { network, interval } = tether.fields;
    return withUnknownFields(context, {
      [settings.quirks.idField]: tether.id,
      network,
      interval,
      state: tetherState(tether),
      deployed_networks: deployedNetworks(tether),
      account: hasAccount(context, tether) ? tethers.account(tether) : undefined,
      ...tethers.shown(tether),
    });
  };
  const owned = async (tether: Tether, network: Network | undefined) => {
    if (!hasAccount(context, tether)) throw gone(context, "account of the tether service", tether.id);
    const balance = network ? await tethers.balance(tether, network) : "0";
    return withUnknownFields(context, { address: tethers.account(tether), balance });
  };

  /** The answer to a POST: the new configuration, if the settings ask for it. */
  const configured = ({ id }: Tether, otherwise: Wire) => {
    if (!settings.quirks.tetherConfig) return otherwise;
    return withUnknownFields(context, configurationOf(context, store.get("tether", id)!));
  };

  get("", (tether) => {
    supported(settings.quirks.getById || 404, "A tether service cannot be read as a whole");
    return show(tether);
  });
  get("/reportCount", (tether) => tether.fields.reports);
  get("/lastReport", (tether) => reportAt(context, tether, tether.fields.reports - 1));
  get("/reports/:index", (tether, { index = "" }) => {
    if (!/^\d{1,9}$/.test(index)) throw new Refusal(400, "The index of a report must be a whole number from 0.");
    return reportAt(context, tether, Number(index));
  });
  for (const path of ["/account", "/accounts"]) {
    get(path, (tether) => owned(tether, tether.fields.network));
  }
  get("/balance/:network", (tether, params) => {
    const network = networks.find((one) => one === params.network);
    if (!network) throw new Refusal(400, `There is no network ${params.network}: use ${networks.join(" or ")}.`);
    return owned(tether, network);
  });

  post("/account", async (tether, request, reply) => {
    if (!settings.quirks.extended) throw new Refusal(404, `POST ${request.url} is not supported.`);
    body(nothing, request);
    const now = hasAccount(context, tether) ? tether : change(tether, { hasAccount: true });
    const account = await owned(now, now.fields.network);
    return answer(context, reply, settings.quirks.created, configured(now, account));
  });
  for (const [path, rules] of [["/targetNetwork", targetNetwork] as const, ["/interval", interval] as const]) {
    post(path, (tether, request, reply) => {
      const fields = body<z.ZodRawShape>(rules, request);
      if (tether.fields.active) throw new Refusal(409, "The tether service is active: deactivate it first.");
      const now = change(tether, fields);
      return answer(context, reply, 200, configured(now, show(now)));
    });
  }
  post("/deploy", async (tether, request, reply) => {
    body(nothing, request);
    const { network } = tether.fields;
    if (!network) throw new Refusal(409, "Set the target network first: the contract is deployed there.");
    if (!hasAccount(context, tether)) throw new Refusal(409, "It has no account yet: POST to its /account first.");
    if (isDeployedOn(tether.fields, network) && (await tethers.isDeployed(tether, network))) {
      throw new Refusal(409, `The contract is already deployed on ${network}.`);
    }
    const deployed = await tethers.deploy(tether, network);
    return answer(context, reply, 200, configured(tether, deployed));
  });
  app.post("/embedded/tether/:tetherId/fund", async (request, reply) => {
    const { network, wei } = body(funding, request);
    const tether = target(request);
    await owned(tether, undefined);
    await tethers.fund(tether, network, BigInt(wei));
    const now = store.get("tether", tether.id)!;
    return answer(context, reply, 200, { network, ...(await owned(now, network)) });
  });
  post("/activate", async (tether, request, reply) => {
    body(nothing, request);
    if (!tether.fields.active) await tethers.activated(change(tether, activation(context, tether)));
    return reply.type("application/json").send("true");
  });
  post("/deactivate", (tether, request, reply) => {
    body(nothing, request);
    if (tether.fields.active) change(tether, { active: false, nextPin: undefined });
    return reply.type("application/json").send("true");
  });
}

const hasAccount = ({ settings }: Context, { fields }: Tether) => settings.quirks.tetherAccounts || fields.hasAccount;

/** A tether's configuration and account, as the hosted service shows them. */
function configurationOf(context: Context, tether: Tether): Wire {
  const { network, interval, active } = tether.fields;
  const { tethers } = context.backend;
  const environment = boundEnvironment(context, tether);
  const nodes = environment ? context.store.children("node", environment.id) : [];
  return {
    environment_id: environment?.id,
    config: {
      arbitratorAddress: network && tethers.contract(tether, network),
      targetNetwork: network,
      uploadInterval: interval,
      started: active,
      nodelist: nodes.map(({ id }) => id),
    },
    account: hasAccount(context, tether) ? { address: tethers.account(tether) } : undefined,
  };
}

function reportAt({ store }: Context, tether: Tether, index: number) {
  const report = store.get("report", `${tether.id}:${index}`);
  if (!report) throw new Refusal(404, `This report does not exist: there are ${tether.fields.reports} so far.`);
  const { states, pin } = report.fields;
  return pin ? { index, pinned_at: new Date(report.createdAt).toISOString(), ...pin, reports: states } : states;
}

/** The fields that an activation sets. Refuses an activation that is not possible yet. */
function activation(context: Context, tether: Tether): Partial<FieldsOf["tether"]> {
  const { network, interval } = tether.fields;
  if (!network) throw new Refusal(409, "Set the target network before activation.");
  if (interval === undefined) throw new Refusal(409, "Set the interval before activation.");
  if (!isDeployedOn(tether.fields, network))
    throw new Refusal(409, `Deploy the contract on ${network} before activation.`);
  const { id: environment } = environmentToPin(context, tether, true);
  return { active: true, activated: true, environment, nextPin: context.clock() };
}
