import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { answer, gone, spiced } from "./responses";
import { organizationOf } from "../http/authentication";
import { parse } from "../http/bodies";
import type { Context } from "../context";
import { supported } from "./crud";
import { networks, type Entity, type FieldsOf, type Network } from "../store/entities";
import { Refusal } from "../http/errors";
import { boundEnvironment, deployedNetworks, tetherState } from "../tether/simulated-tethers";
import { Simulated } from "../tether/tethering";

const targetNetwork = z.object({ network: z.enum(networks) });
const interval = z.object({ interval: z.number().int().min(1) });
const nothing = z.object({});

type Tether = Entity<"tether">;
type Fields = FieldsOf["tether"];

/** The anchoring API: configured, then deployed, then active, in that order. */
export function tetherRoutes(app: FastifyInstance, context: Context): void {
  const { store, settings } = context;

  const tethering = context.anchors ?? new Simulated(context);
  const target = (request: FastifyRequest): Promise<Tether> => {
    const { tetherId } = request.params as { tetherId: string };
    const tether = store.get("tether", tetherId);
    if (tether?.parent !== organizationOf(request).id) throw gone(context, "tether service", tetherId);
    return tethering.current(tether);
  };
  const change = (tether: Tether, fields: Partial<Fields>) => {
    const now = store.get("tether", tether.id)!;
    return store.change(now, { fields: { ...now.fields, ...fields } });
  };
  const body = <T extends z.ZodRawShape>(rules: z.ZodObject<T>, request: FastifyRequest) =>
    parse(rules, request.body, settings.answers.strictBodies);
  const get = (path: string, show: (tether: Tether, params: Record<string, string>) => unknown) =>
    app.get(`/tether/:tetherId${path}`, async (request, reply) => {
      const shown = await show(await target(request), request.params as Record<string, string>);
      return reply.type("application/json").send(JSON.stringify(shown)); // a bare number is JSON too
    });
  const post = (path: string, act: (tether: Tether, request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.post(`/tether/:tetherId${path}`, async (request, reply) => act(await target(request), request, reply));

  const show = async (tether: Tether) => {
    const { network, interval } = tether.fields;
    return spiced(context, {
      [settings.answers.idField]: tether.id,
      ...{ network, interval },
      state: tetherState(tether),
      deployed_networks: deployedNetworks(tether),
      account: await tethering.account(tether),
      ...tethering.shown(tether),
    });
  };
  const owned = async (tether: Tether, network: Network | undefined) =>
    spiced(context, {
      address: await tethering.account(tether),
      balance: network ? await tethering.balance(tether, network) : "0",
    });

  get("", (tether) => {
    supported(settings.answers.getById || 404, "A tether service cannot be read as a whole");
    return show(tether);
  });
  get("/reportCount", (tether) => tether.fields.reports);
  get("/lastReport", (tether) => reportAt(context, tether, tether.fields.reports - 1));
  get("/reports/:index", (tether, { index = "" }) => {
    if (!/^\d{1,9}$/.test(index)) throw new Refusal(400, "The index of a report is a whole number from 0.");
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

  post("/targetNetwork", async (tether, request, reply) => {
    const fields = body(targetNetwork, request);
    mustRest(tether);
    return answer(context, reply, 200, await show(change(tether, fields)));
  });
  post("/interval", async (tether, request, reply) => {
    const fields = body(interval, request);
    mustRest(tether);
    return answer(context, reply, 200, await show(change(tether, fields)));
  });
  post("/deploy", async (tether, request, reply) => {
    body(nothing, request);
    const { network, deployments } = tether.fields;
    if (!network) throw new Refusal(409, "Set the target network first: the contract is deployed there.");
    if (deployments[network] > 0 && (await tethering.isDeployed(tether, network))) {
      throw new Refusal(409, `The contract is already deployed on ${network}.`);
    }
    return answer(context, reply, 200, await tethering.deploy(tether, network));
  });
  app.post("/embedded/tether/:tetherId/fund", async (request, reply) => {
    const { network, wei } = body(funding, request);
    const tether = await target(request);
    await tethering.fund(tether, network, BigInt(wei));
    const now = store.get("tether", tether.id)!;
    return answer(context, reply, 200, { network, ...(await owned(now, network)) });
  });
  post("/activate", async (tether, request, reply) => {
    body(nothing, request);
    if (!tether.fields.active) await tethering.activated(change(tether, activation(context, tether)));
    return reply.type("application/json").send("true");
  });
  post("/deactivate", (tether, request, reply) => {
    body(nothing, request);
    if (tether.fields.active) change(tether, { active: false, nextPin: undefined });
    return reply.type("application/json").send("true");
  });
}

function reportAt({ store }: Context, tether: Tether, index: number) {
  const report = store.get("report", `${tether.id}:${index}`);
  if (!report) throw new Refusal(404, `There is no such report: there are ${tether.fields.reports} so far.`);
  const { states, pin } = report.fields;
  return pin ? { index, pinned_at: new Date(report.createdAt).toISOString(), ...pin, reports: states } : states;
}

/** What only this service has: money from nowhere. */
const funding = z.object({
  network: z.enum(networks),
  wei: z.string().regex(/^[1-9]\d{0,38}$/, "must be wei, as a string"),
});

function mustRest(tether: Tether): void {
  if (tether.fields.active) throw new Refusal(409, "The tether service is active: deactivate it first.");
}

/** What changes when it is activated, if it may be. */
function activation(context: Context, tether: Tether): Partial<Fields> {
  const { network, interval, deployments, environmentName } = tether.fields;
  if (!network) throw new Refusal(409, "Set the target network before activation.");
  if (interval === undefined) throw new Refusal(409, "Set the interval before activation.");
  if (deployments[network] === 0) throw new Refusal(409, `Deploy the contract on ${network} before activation.`);
  if (!boundEnvironment(context, tether)) {
    throw new Refusal(409, `The environment ${environmentName ?? "to pin"} does not exist yet.`);
  }
  return { active: true, activated: true, nextPin: context.clock() };
}
