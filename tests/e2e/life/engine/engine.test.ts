import { type Run, Stack as Double } from "../../../support/double/stack";
import { start } from "../../../support/service";
import { type ServiceOptions } from "../../../../service/index";
import { evaluated } from "../../support/inline";
import { onNewest } from "../../support/stack";
import { type World, world, writesOf } from "../../support/world";
import { type Chapter, stories } from "./stories";

type Adapter = "dynamic" | "plugin";
type Release = "oldest" | "newest";
const optionsOn = { dynamic: '{ replaceOnChanges: ["description"] }', plugin: "{}" };

interface Told {
  ok: boolean;
  writes: string[];
  kept: string[];
}

/** The story on Pulumi. */
async function told(w: World, adapter: Adapter, chapters: Record<string, Chapter>): Promise<Record<string, Told>> {
  const story: Record<string, Told> = {};
  for (const [title, { program, run = "destroy", args, before, fails }] of Object.entries(chapters)) {
    w.service.clearCalls();
    await before?.(w.service);
    if (program) w.stack.program(program.replace("OPTIONS", optionsOn[adapter]));
    const more = ["--parallel", "1"];
    if (args === "--refresh") more.push(args);
    if (args === "--replace") more.push(args, await urnOf(w, "n"));
    const { code, text } = await (program ? w.stack.up({}, ...more) : w.stack[run]({}, ...more));
    if ((code !== 0) !== (fails ?? false)) throw new Error(`${title}: ${text}`);
    const kept = (await w.stack.resources()).map(({ urn }) => urn.split("::").at(-1)!);
    story[title] = { ok: code === 0, writes: writesOf(w.service), kept: kept.sort() };
  }
  return story;
}

const urnOf = async ({ stack }: World, name: string): Promise<string> =>
  (await stack.resources()).find(({ urn }) => urn.endsWith(`::${name}`))!.urn;

/** The same by the double, as this release of Pulumi does it. */
async function doubled(
  adapter: Adapter,
  { release, ...options }: ServiceOptions & { release: Release },
  chapters: Record<string, Chapter>,
): Promise<Record<string, Told>> {
  const { service, time } = await start(options);
  const stack = new Double(adapter);
  const story: Record<string, Told> = {};
  for (const [title, { program, run = "destroy", args, before }] of Object.entries(chapters)) {
    service.clearCalls();
    await before?.(service);
    time.pass(10_000); // Pulumi takes some time, too, until it has started
    const replace = args === "--replace" ? { replace: ["n"] } : {};
    const script = (text: string) => () => evaluated(text.replace("OPTIONS", optionsOn[adapter]));
    const how = {
      parallel: 1,
      refresh: args === "--refresh",
      ...replace,
      ...(release === "oldest" && { release }),
    };
    const { errors }: Run = program ? await stack.up(script(program), how) : await stack[run](how);
    story[title] = {
      ok: errors.length === 0,
      writes: writesOf(service),
      kept: [...stack.state]
        .filter((one) => one.custom && !one.type.startsWith("pulumi:"))
        .map(({ name }) => name)
        .sort(),
    };
  }
  return story;
}

/** Where the adapters answer the engine in another way, on a service like the hosted one. */
const onDynamic = ["life", "failures", "waiting"] as const;
/** The oldest release tells two in another way. */
const onOldest = ["life", "together"] as const;
type Row = [story: keyof typeof stories, adapter: Adapter, release: Release];

/** Each run of the tests has what differs between the releases. */
const rows: Row[] = [
  ...(Object.keys(stories) as (keyof typeof stories)[]).map((story): Row => [story, "plugin", "newest"]),
  ...onDynamic.map((story): Row => [story, "dynamic", "newest"]),
  ...onOldest.map((story): Row => [story, "plugin", "oldest"]),
];
const all = onNewest
  ? rows
  : rows.filter(([, , release]) => release === "newest").map(([story, adapter]): Row => [story, adapter, "oldest"]);

jest.setTimeout(1_200_000); // more than the double needs

/* Stories of a stack, told by Pulumi and by the double of its engine: they make the same calls in the same order. */
test.each(all)("%s: Pulumi and its double do the same on %s (%s release)", async (story, adapter, release) => {
  // An environment of the hosted service waits for a node, and a create for that: 20 s each, once is enough.
  const hosted = { like: "hosted", environmentsWait: story === "waiting" } as const;
  const answers = adapter === "dynamic" ? hosted : ({ like: "specification" } as const);
  const w = await world("", {
    inline: true,
    answers,
    release,
    plugin: adapter === "plugin",
    env: { CONSORTIUM_PLUGIN: String(adapter === "plugin") },
  });
  const real = await told(w, adapter, stories[story]);
  expect(await doubled(adapter, { answers, release }, stories[story])).toEqual(real);
});
