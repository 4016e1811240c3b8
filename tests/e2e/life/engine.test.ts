import { type Run, Stack as Double } from "../../support/double/stack";
import { send } from "../../support/network";
import { start } from "../../support/service";
import { type Service, type ServiceOptions } from "../../../service/index";
import { evaluated } from "../support/inline";
import { type World, world, writesOf } from "../support/world";

/*
 * One story of a stack, told by Pulumi and by the double of its engine, on both adapters, on a service like the specification and on
 * one like the hosted one: they make the same calls in the same order.
 */

jest.setTimeout(600_000); // more than the double needs

interface Shape {
  description?: string;
  consensusType?: string;
  without?: string;
  /** Of the environment. */
  name?: string;
  /** The provider of the consortium, where that is one of its own. */
  provider?: string;
  options?: object;
}

/** Pulumi ignores `replaceOnChanges` for dynamic resources, as docs/operations.md says: a description still changes in place. */
const tree = ({
  description = "first",
  consensusType = "raft",
  without = "",
  name,
  provider,
  options = {},
}: Shape = {}): string => `
  const { AppCred, Consortium, Environment, Membership, Node, Provider } = require("pulumi-consortium");
  const given = ${JSON.stringify({ provider })};
  const provider = given.provider && new Provider(given.provider, { apiKey: process.env.CONSORTIUM_API_KEY });
  const consortium = new Consortium("c", { description: "${description}" }, { provider, ...OPTIONS });
  const ledger = { consortium, provider: "quorum", consensusType: "${consensusType}", ...${JSON.stringify({ name })} };
  const environment = new Environment("e", ledger, ${JSON.stringify(options)});
  const membership = new Membership("m", { consortium }, { dependsOn: environment });
  const node = new Node("n", { environment, membership });
  if ("${without}" !== "a") new AppCred("a", { environment, membership }, { dependsOn: node });
  exports.environmentId = environment.id;
`;

/** What a chapter begins with, and how it ends. */
interface Chapter {
  program?: string;
  args?: "--refresh" | "--replace";
  /** Somebody else changes something first. */
  before?: (service: Service) => unknown;
}

const refused: Chapter["before"] = (service) =>
  service.faults.add({
    kind: "status",
    status: 400,
    errorMessage: "no",
    method: "POST",
    route: "/consortia/:consortiumId/environments",
  });
const renamed = { description: "second", consensusType: "ibft", name: "next" };
const last = { ...renamed, name: "last", consensusType: "raft", options: { deleteBeforeReplace: true } };

const chapters: Record<string, Chapter> = {
  "all is made": { program: tree() },
  "one changes in place, one goes": { program: tree({ description: "second", without: "a" }) },
  "a replacement takes its children with it": { program: tree({ description: "second", consensusType: "ibft" }) },
  "what is gone is made again": {
    program: tree({ description: "second", consensusType: "ibft" }),
    args: "--refresh",
    before: async (service) => {
      const [credential] = service.store.credentials.list();
      const [environment] = service.store.environments.list();
      const within = `/consortia/${environment!.parent}/environments/${environment!.id}`;
      await send(service, "DELETE", `${within}/appcreds/${credential!.id}`);
      service.clearCalls();
    },
  },
  "one is made anew at the user's word": {
    program: tree({ description: "second", consensusType: "ibft" }),
    args: "--replace",
  },
  "a create is refused, and what was made stays": {
    program: tree({ description: "second", consensusType: "raft" }),
    before: refused,
  },
  "the next run goes on": {
    program: tree({ description: "second", consensusType: "raft" }),
    before: (service) => service.faults.clear(),
  },
  "under another name the new one comes first: where it is refused, the old one stays": {
    program: tree(renamed),
    before: refused,
  },
  "and goes once there is a new one": { program: tree(renamed), before: (service) => service.faults.clear() },
  "the resource option lets it go first": { program: tree(last) },
  "another provider of the same organization changes nothing": { program: tree({ ...last, provider: "own" }) },
  "nor does yet another one": { program: tree({ ...last, provider: "other" }) },
  "all is deleted": {},
};

type Adapter = "dynamic" | "plugin";
const optionsOn = { dynamic: '{ replaceOnChanges: ["description"] }', plugin: "{}" };

interface Told {
  ok: boolean;
  writes: string[];
  kept: string[];
}

/** The story as Pulumi tells it. */
async function told(w: World, adapter: Adapter): Promise<Record<string, Told>> {
  const story: Record<string, Told> = {};
  for (const [title, { program, args, before }] of Object.entries(chapters)) {
    w.service.clearCalls();
    await before?.(w.service);
    if (program) w.stack.program(program.replace("OPTIONS", optionsOn[adapter]));
    const node = (await w.stack.resources()).find(({ urn }) => urn.endsWith("::n"))?.urn;
    const more = args === "--replace" ? [args, node!] : args ? [args] : [];
    const { code, text } = program
      ? await w.stack.up({}, "--parallel", "1", ...more)
      : await w.stack.destroy({}, "--parallel", "1");
    if (code !== 0 && !title.includes("refused")) throw new Error(`${title}: ${text}`);
    const kept = (await w.stack.resources()).map(({ urn }) => urn.split("::").at(-1)!);
    story[title] = { ok: code === 0, writes: writesOf(w.service), kept: kept.sort() };
  }
  return story;
}

/** The same by the double. */
async function doubled(adapter: Adapter, options: ServiceOptions): Promise<Record<string, Told>> {
  const { service } = await start(options);
  const stack = new Double(adapter);
  const story: Record<string, Told> = {};
  for (const [title, { program, args, before }] of Object.entries(chapters)) {
    service.clearCalls();
    await before?.(service);
    const how = { parallel: 1, refresh: args === "--refresh", ...(args === "--replace" && { replace: ["n"] }) };
    const run: Run = program
      ? await stack.up(() => evaluated(program.replace("OPTIONS", optionsOn[adapter])), how)
      : await stack.destroy(how);
    story[title] = {
      ok: run.errors.length === 0,
      writes: writesOf(service),
      kept: [...stack.state]
        .filter((one) => one.custom && !one.type.startsWith("pulumi:"))
        .map(({ name }) => name)
        .sort(),
    };
  }
  return story;
}

test.each([
  ["dynamic", "hosted"],
  ["plugin", "specification"],
] as const)("%s, on a service like the %s: Pulumi and its double tell the same story", async (adapter, like) => {
  const answers = { like };
  const w = await world("", {
    inline: true,
    answers,
    plugin: adapter === "plugin",
    env: { CONSORTIUM_PLUGIN: String(adapter === "plugin") },
  });
  const real = await told(w, adapter);
  expect(await doubled(adapter, { answers })).toEqual(real);
});
