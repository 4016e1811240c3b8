import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Observer } from "../../console/server/observer";
import { Stacks } from "../../console/server/stacks";
import { Progress } from "../../fleet/progress";
import { LiveNetwork } from "../../inventory/live";
import { type NetworkModel, objectsOf } from "../../inventory/model";
import { changesOf } from "../../inventory/plan/changes";
import { readStack } from "../../inventory/stack";
import { check } from "../../observe/check/checks";
import { observeNetwork } from "../../observe/check/observations";
import { mapOf } from "../../observe/map/graph";
import { ConsortiumClient } from "../../provider/api";
import { inputKeys } from "../../provider/core/definition";
import { wireName } from "../../provider/core/field";
import { definitions } from "../../provider/resources";
import { result } from "../fleet/made";
import { bases, collected, nameField, nameKey, storeOf } from "../support/bases";
import { isSecret, secret } from "../support/double/wire";
import { type Engine, type Kept, type Kind, type Props } from "../support/engine";
import { world } from "../support/lifecycle";
import { type Network, others, send } from "../support/network";
import { newProcess, type Started } from "../support/service";
import { tetherArgs, tethered, tetherId } from "../support/tethered";
import { rewriting } from "../support/virtual-time";

/*
 * One comparison: what refresh calls drift is drift in check, on the map, in the console, in reports and in `fleet drift`, and nothing
 * else is.
 */

const clients: ConsortiumClient[] = [];
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

/** As `pulumi stack export --show-secrets` writes it. */
const exported = (value: unknown): unknown => {
  if (isSecret(value)) return { ...value, value: undefined, plaintext: JSON.stringify(value.value) };
  if (Array.isArray(value)) return value.map(exported);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, exported(member)]));
};

const urnOf = (kind: Kind): string => `urn:pulumi:dev::net::consortium:index:${definitions[kind].type}::r`;

const documentOf = (kind: Kind, { id, inputs, outputs }: Kept) => ({
  deployment: {
    resources: [{ urn: urnOf(kind), id, inputs: exported(inputs), outputs: exported(outputs) }],
  },
});

/** The inputs that differences are about. */
const keysIn = (texts: readonly string[] = []): string[] => texts.flatMap((text) => /^(\w+) is /.exec(text)?.[1] ?? []);

type Here = Started & { engine: Engine };

/** What a report and `fleet drift` make of the engine's refresh. */
function refreshes(kind: Kind, was: Kept, is: Kept) {
  const [old, now] = [was, is].map(({ id, inputs, outputs }) => ({ id, inputs, outputs, custom: true }));
  const step = { op: "update", urn: urnOf(kind), old: old!, new: now! };
  const seen = result();
  const type = `consortium:index:${definitions[kind].type}`;
  new Progress(seen, String, "drift").take({ resOutputsEvent: { metadata: { ...step, type } } });
  const plan = { steps: [{ ...step, op: "refresh", found: true, reasons: [] }] } as never;
  return {
    fleet: keysIn(seen.drift.flatMap((line) => line.replace(/^.*? differs: /, "").split("; "))),
    report: changesOf(plan).flatMap(({ properties }) => properties.map(({ name }) => name)),
  };
}

/** The drifted inputs of the stack's only resource, in each view. */
async function views(kind: Kind, { service, said, engine }: Here, kept: Kept) {
  engine.kept = structuredClone(kept);
  const document = documentOf(kind, kept);
  const file = join(tmpdir(), `${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(document));
  const stack = readStack(document);
  const client = new ConsortiumClient();
  clients.push(client);
  const tethers = stack.model.tethers.map(({ id }) => id);
  const driftIn = (model: NetworkModel) =>
    objectsOf(model).flatMap(({ object }) => (typeof object.managed === "object" ? (object.drift ?? []) : []));
  const live = new LiveNetwork(client);
  const shown = await live.look({ tethers, stacks: [stack] });
  const marked = JSON.stringify(mapOf(shown)).includes('"drift"');
  const results = check(await observeNetwork(client, { stack, tethers, live }));
  const wrong = results.filter((one) => one.check === "as the stack says").flatMap(({ text }) => text.split("; "));
  const none = { embedded: undefined, mayChange: false, tethers: [], targets: {}, periodMs: 100 };
  const observer = new Observer({ client, ...none, stacks: new Stacks([file]) });
  const { model } = (await observer.look("network")) as { model: NetworkModel };
  service.clearCalls();
  newProcess();
  said.length = 0;
  await engine.refresh();
  const isChanged = (await engine.differs(kept.inputs)) || said.some((line) => line.includes("somebody changed"));
  return {
    refresh: isChanged,
    map: marked,
    live: keysIn(driftIn(shown)),
    check: keysIn(wrong),
    console: keysIn(driftIn(model)),
    ...refreshes(kind, kept, engine.kept),
    texts: driftIn(shown),
  };
}

/** What all views say of these inputs. */
const all = (drifted: string[]): object => {
  const views = ["live", "check", "console", "fleet", "report"].map((view) => [view, drifted]);
  return { refresh: drifted.length > 0, map: drifted.length > 0, ...(Object.fromEntries(views) as object) };
};

test("the tables below are about every kind", () => {
  const rows = [...collected, "destination", "tetherService"];
  const without = Object.keys(definitions).filter((kind) => !rows.includes(kind));
  expect(without.map((kind) => `add ${kind} to the tables of tests/support/bases.ts`)).toEqual([]);
});

/** Values of inputs that cannot be two texts. */
const pairs: Partial<Record<string, (net: Network) => [was: unknown, is: unknown]>> = {
  provider: () => ["quorum", "geth"],
  consensusType: () => ["raft", "ibft"],
  chainId: () => [4711, 4712],
  blockPeriod: () => [5, 6],
  membershipId: (net) => [net.membershipId, net.otherMembershipId],
  kaleidoManaged: () => [true, false],
  details: () => [{ a: "b" }, { a: "c" }],
  paused: () => [false, true],
};

/** Inputs that no service shows, or that it changes by itself: no view can call them drift. */
const neverDrift = new Set([
  ...["consortiumId", "environmentId", "serviceId", "serviceType", "adopt", "extra", "customTimeouts"],
  ...["prefundedAccounts", "multiRegion", "testFeatures", "keepers", "rotateWhenChanged", "releaseId"],
  ...["idRegistryId", "testCertificate", "minimumBalanceWei", "waitForFunds"],
]);

/** `details` of a service are shown; `details` of a configuration are secret. */
const isShown = (kind: Kind, key: string): boolean =>
  !neverDrift.has(key) &&
  !(key === "details" && kind === "configuration") &&
  !(kind === "destination" && /member/.test(key));

/** Changes the object by hand. */
type Patch = (key: string, value: unknown) => unknown;

async function driftOfEach(kind: Kind, here: Here, net: Network, patch: Patch): Promise<void> {
  const { engine } = here;
  const kept = engine.kept!;
  const keys = inputKeys(definitions[kind]).filter((key) => !(kind === "destination" && key === "name"));
  const shown = keys.filter((key) => isShown(kind, key));
  const wanted = Object.fromEntries(
    shown.map((key) => {
      const [was, is] = pairs[key]?.(net) ?? [`a-${key}`, `b-${key}`];
      return [key, { was, is }];
    }),
  );
  for (const [key, { was }] of Object.entries(wanted)) {
    await patch(key, was);
    kept.inputs[key] = was;
    kept.outputs[key] = was;
    const state = kept.outputs.__kept as { asked?: Props; answered?: Props };
    state.asked = { ...state.asked, [key]: was };
    delete state.answered?.[key];
  }
  const before = structuredClone(kept);
  const look = () => views(kind, here, before);
  expect(await look()).toEqual({ ...all([]), texts: [] });
  // Each view names those that changed, and no others: one half at a time.
  for (const half of [0, 1]) {
    const changed = keys.filter((_, at) => at % 2 === half);
    for (const key of changed) await patch(key, (wanted[key] ?? { is: "other" }).is);
    const drifted = changed.filter((key) => wanted[key]).sort();
    const texts = drifted.map((key) => {
      const { was, is } = wanted[key]!;
      return `${key} is ${JSON.stringify(is)}, and ${JSON.stringify(was)} in the stack`;
    });
    const seen = Object.entries(await look());
    const sorted = seen.map(([view, found]) => [view, Array.isArray(found) ? [...found].sort() : found]);
    expect({ changed, ...(Object.fromEntries(sorted) as object) }).toEqual({ changed, ...all(drifted), texts });
    for (const key of changed) await patch(key, wanted[key]?.was);
  }
}

test.each(collected)("%s: every changed input is drift in every view, with its values", async (kind) => {
  const here = await world(kind);
  const { engine, net, service } = here;
  await engine.up(bases[kind](net));
  const { id } = engine.kept!;
  const store = storeOf(service, kind);
  await driftOfEach(kind, here, net, (key, value) => {
    if (key === "paused") store.setState(id, value === true ? "paused" : "live");
    else store.patch(id, { [wireName(key)]: value });
  });
});

test("a destination: every changed input is drift in every view", async () => {
  const here = await world("destination");
  const { engine, net, service, time } = here;
  const { documentsId } = await others(service, time, net);
  const { consortiumId, environmentId } = net;
  const place = { consortiumId, environmentId, serviceId: documentsId, serviceType: "documentstore" };
  await engine.up({ ...place, name: "outbox", kaleidoManaged: true });
  await driftOfEach("destination", here, net, async (key, value) => {
    if (key !== "kaleidoManaged") return;
    const body = { name: "outbox", kaleido_managed: value };
    await send(service, "PUT", `/documentstore/${documentsId}/destinations/outbox`, body);
  });
});

test("a tether: its network, its interval and whether it pins", async () => {
  const here = await tethered();
  const { engine, service } = here;
  await engine.up(tetherArgs);
  const before = structuredClone(engine.kept!);
  const look = () => views("tetherService", here, before);
  expect(await look()).toEqual({ ...all([]), texts: [] });
  const texts: string[] = [];
  const others = inputKeys(definitions.tetherService).filter((key) => key !== "tetherId" && !neverDrift.has(key));
  expect(others.sort()).toEqual(["active", "intervalHours", "network"]);
  for (const [action, body, text] of [
    ["deactivate", {}, "active is false, and true in the stack"],
    ["interval", { interval: 5 }, "intervalHours is 5, and 2 in the stack"],
    ["targetNetwork", { network: "mainnet" }, 'network is "mainnet", and "rinkeby" in the stack'],
  ] as const) {
    await send(service, "POST", `/tether/${tetherId}/${action}`, body);
    texts.unshift(text);
    expect(await look()).toEqual({ ...all(keysIn(texts)), texts });
  }
});

/** Names in lower case with hyphens, clouds in capitals. */
const ownForm = (body: string): string =>
  body
    .replace(/"(name|org_name)":"([^"]*)"/g, (_, key: string, name: string) => {
      return `"${key}":"${name.toLowerCase().replaceAll(" ", "-")}"`;
    })
    .replace(/"cloud":"aws"/g, '"cloud":"AWS"');

test.each(collected)(
  "%s: a value that the service writes in its own form, or chose itself, is not drift in any view",
  async (kind) => {
    const here = await world(kind);
    const { engine, net, service } = here;
    rewriting({ request: ownForm, answer: ownForm });
    const args = { ...bases[kind](net), [nameKey(kind)]: "Acme Trade" };
    expect(await engine.up(args)).toEqual({ then: "created" });
    const look = () => views(kind, here, structuredClone(engine.kept!));
    expect(await look()).toEqual({ ...all([]), texts: [] });
    expect(await look()).toEqual({ ...all([]), texts: [] }); // a refresh later
    // A value that the program left to the service, a state and a release are the service's.
    const theirs = { size: "huge", zone_id: "z", release_id: "r", idle_hours: 1, hybrid_port_allocation: 1 };
    storeOf(service, kind).patch(engine.kept!.id, theirs);
    expect(await look()).toEqual({ ...all([]), texts: [] });
    storeOf(service, kind).patch(engine.kept!.id, { [nameField(kind)]: "theirs" });
    expect(await look()).toMatchObject(all([nameKey(kind)]));
  },
);

test("a changed secret argument is reported without its value; without the secrets, nothing is reported", async () => {
  const here = await world("consortium");
  const { engine, service } = here;
  await engine.up({ name: "acme", description: "hush", __secrets: [["description"]] });
  service.store.consortia.patch(engine.kept!.id, { description: "shown" });
  const client = new ConsortiumClient();
  clients.push(client);
  const said = async (document: object) => {
    const model = await new LiveNetwork(client).look({ stacks: [readStack(document)] });
    expect(JSON.stringify(model)).not.toContain("hush");
    return objectsOf(model).flatMap(({ object }) => object.drift ?? []);
  };
  const { outputs } = engine.kept!;
  // The engine marks what the handler names as secret.
  const marked = Object.entries(outputs).map(([key, value]) => [
    key,
    ["description", "__hidden"].includes(key) ? secret(value) : value,
  ]);
  const document = documentOf("consortium", { ...engine.kept!, outputs: Object.fromEntries(marked) as Props });
  expect(await said(document)).toEqual(["description is not as in the stack (it is secret)"]);
  const sealed = JSON.parse(JSON.stringify(document), (key, value: unknown) =>
    key === "plaintext" ? undefined : value,
  ) as object;
  expect(await said(sealed)).toEqual([]);
});
