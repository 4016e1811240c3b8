import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Command, type FleetResult } from "../../fleet/results";
import { consortium } from "../cli/command";
import { writeIn } from "./made";
import { StubFleet, type StubPulumi } from "./stub-pulumi";

/* The fleet of a stack: two fleet files on one backend, stacks of earlier versions, and stacks that left their file. */

let own: StubFleet;
let pulumi: StubPulumi;
beforeEach(() => ({ pulumi } = own = new StubFleet()));

interface Given {
  project?: string;
  id?: string;
  /** Networks by stack. */
  stacks?: Record<string, string>;
}

/** Writes a fleet file, such as `north/fleet.yaml`, with a network file for each stack beside it. */
function fleet(path: string, { stacks = { prod: "coffee" }, project, id }: Given = {}): string {
  const text = "members: [m]\nlimits: { consortiaPerOrganization: 3 }\n";
  for (const network of Object.values(stacks)) writeIn(own.folder, join(dirname(path), `${network}.yaml`), text);
  const files = Object.fromEntries(Object.entries(stacks).map(([key, network]) => [key, `${network}.yaml`]));
  return own.write({ acme: { apiKey: { env: "KEY" }, stacks: files } }, { project, id }, path);
}

interface Ran extends Pick<FleetResult, "strays" | "project"> {
  /** Outcomes by stack. */
  outcomes: Record<string, string>;
  errors: string;
}

async function run(command: Command, file: string, ...args: string[]): Promise<Ran> {
  const agreed = command === "up" || command === "destroy" ? ["--yes"] : [];
  const env = { ...pulumi.env, KEY: "a-key-of-acme" };
  const { stdout } = await consortium(["fleet", command, file, "--parallel", "1", "--json", ...agreed, ...args], env);
  const { stacks, strays, project } = JSON.parse(stdout) as FleetResult;
  const outcomes = Object.fromEntries(stacks.map(({ stack, outcome }) => [stack, outcome]));
  return { strays, project, outcomes, errors: stacks.map(({ error = "" }) => error).join("\n") };
}

const ok = { "acme-prod": "ok" };
const failed = { "acme-prod": "failed" };
const networksOf = (): Record<string, string[]> =>
  Object.fromEntries(Object.entries(pulumi.stacks).map(([key, { networks }]) => [key, networks]));

describe("two fleet files on one backend, with the same organization and stack key", () => {
  test("have two projects, unless they say otherwise", async () => {
    expect(await run("up", fleet("north/fleet.yaml"))).toMatchObject({ project: "north-fleet" });
    const south = await run("up", fleet("south/fleet.yaml", { stacks: { prod: "tea" } }));
    expect(south).toMatchObject({ project: "south-fleet", outcomes: ok });
    expect(networksOf()).toEqual({ "north-fleet/acme-prod": ["coffee"], "south-fleet/acme-prod": ["tea"] });
  });

  const project = "trade";
  test.each<[string, string, string, Command[]]>([
    ["in two folders", "north/fleet.yaml", "south/fleet.yaml", ["up", "preview", "drift", "destroy"]],
    ["in one folder", "north/one.yaml", "north/two.yaml", ["up"]],
  ])("and the same project, %s: the second one is refused, whatever the command", async (_, one, other, commands) => {
    await run("up", fleet(one, { project }));
    const second = fleet(other, { project, stacks: { prod: "tea" } });
    for (const command of commands) {
      const { outcomes, errors } = await run(command, second);
      expect(outcomes).toEqual(failed);
      expect(errors).toContain(
        `The stack belongs to the fleet ${one.split("/").slice(-2).join("/")}, and this file is`,
      );
      expect(errors).toMatch(/^Take over the stack acme-prod, .*--only acme-prod --take-over`.*\[stack-of-others: /);
      expect(errors).toContain(`consortium fleet up ${second} `);
    }
    expect(networksOf()).toEqual({ "trade/acme-prod": ["coffee"] });
    expect(pulumi.calls.filter((call) => /^(up|destroy|refresh|preview)/.test(call))).toHaveLength(1);
  });

  test("the second one takes over the stack on request, and owns it afterwards", async () => {
    const first = fleet("north/fleet.yaml", { project });
    await run("up", first);
    const second = fleet("south/fleet.yaml", { project, stacks: { prod: "tea" } });
    expect(await run("preview", second, "--take-over")).toMatchObject({ outcomes: ok });
    expect((await run("up", second)).outcomes).toEqual(failed);
    expect((await run("up", second, "--take-over")).outcomes).toEqual(ok);
    expect((await run("up", second)).outcomes).toEqual(ok);
    expect((await run("up", first)).outcomes).toEqual(failed);
    expect(networksOf()).toEqual({ "trade/acme-prod": ["tea"] });
  });

  test.each([
    ["with the same id", "north/fleet.yaml", "south/other.yaml", "the trade fleet"],
    ["where one has moved together with its folder", "a/net/fleet.yaml", "b/net/fleet.yaml", undefined],
  ])("%s, they are one fleet", async (_, one, other, id) => {
    await run("up", fleet(one, { project, id }));
    rmSync(join(own.folder, dirname(one)), { recursive: true });
    expect((await run("up", fleet(other, { project, id }))).outcomes).toEqual(ok);
    const { errors } = await run("destroy", fleet(other, { project, id: "another" }));
    expect(errors).toContain(`belongs to the fleet ${id ?? "net/fleet.yaml"}`);
  });
});

describe("untagged stacks, such as the Kubernetes operator's", () => {
  const made = (...networks: string[]) => ({ tags: {}, networks, ids: networks });

  test("may be looked at, but an up or destroy must take them over; then they are tagged", async () => {
    pulumi.stacks = { "trade/acme-prod": made("coffee") };
    const file = fleet("north/fleet.yaml", { project: "trade" });
    for (const command of ["preview", "drift"] as const) expect((await run(command, file)).outcomes).toEqual(ok);
    for (const command of ["up", "destroy"] as const)
      expect((await run(command, file)).errors).toContain(
        "The stack belongs to no fleet, and this file is north/fleet.yaml",
      );
    expect(networksOf()).toEqual({ "trade/acme-prod": ["coffee"] });
    expect((await run("up", file, "--take-over")).outcomes).toEqual(ok);
    const tags = Object.values(pulumi.stacks["trade/acme-prod"]!.tags);
    expect(tags).toEqual([expect.stringContaining("north/fleet.yaml")]);
    expect((await run("up", file)).outcomes).toEqual(ok);
  });

  test("that are empty belong to nobody", async () => {
    pulumi.stacks = { "trade/acme-prod": made() };
    expect((await run("up", fleet("south/fleet.yaml", { project: "trade" }))).outcomes).toEqual(ok);
  });
});

describe("a stack that left the file", () => {
  const project = "trade";
  test("is named by preview, drift and up, and not changed", async () => {
    await run("up", fleet("north/fleet.yaml", { project, stacks: { prod: "coffee", old: "tea", gone: "mate" } }));
    await run("destroy", fleet("north/fleet.yaml", { project, stacks: { gone: "mate" } }));
    const left = fleet("north/fleet.yaml", { project, stacks: { prod: "coffee", next: "cacao" } });
    for (const command of ["preview", "drift", "up"] as const)
      expect([command, (await run(command, left)).strays]).toEqual([command, ["acme-old"]]);
    expect(networksOf()).toMatchObject({ "trade/acme-old": ["tea"] });
  });

  test("does not count if it belongs to another file", async () => {
    await run("up", fleet("north/fleet.yaml", { project }));
    const { strays } = await run("up", fleet("south/fleet.yaml", { project, stacks: { other: "tea" } }));
    expect(strays).toEqual([]);
  });
});

test("a preview of a new stack leaves no tagged stack behind", async () => {
  await run("preview", fleet("north/fleet.yaml"));
  expect(pulumi.stacks).toEqual({});
});
