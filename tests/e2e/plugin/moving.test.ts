import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readPlan } from "../../../cli/report/plan";
import { render } from "../../../cli/report/render";
import { type Service, startService } from "../../../service";
import { golden } from "../../golden/service.mjs";
import { clockAfter } from "../support/golden";
import { root, Stack } from "../support/stack";
import { type World, world } from "../support/world";

/* A stack of the dynamic provider and one of the plugin are the same network: `consortium:plugin` moves it, and nothing else happens. */

const onPlugin = { CONSORTIUM_PLUGIN: "true" };
const onDynamic = { CONSORTIUM_PLUGIN: "false" };

const changing = (service: Service): string[] =>
  service.calls.filter(({ method }) => method !== "GET").map(({ method, route }) => `${method} ${route}`);

/** The adapters that the resources of a state are on. */
const adaptersOf = async (stack: Stack): Promise<string[]> => [
  ...new Set((await stack.resources()).map(({ type }) => type.slice(0, type.lastIndexOf(":") + 1))),
];

const report = async (stack: Stack, env: Record<string, string>): Promise<string> =>
  render([readPlan((await stack.ok(["preview", "--json"], env)).stdout, "plan")], { max: 60_000 });

describe("the state of 0.1.0", () => {
  const kept = join(root, "tests/golden/0.1.0");
  let dataDir: string;
  let service: Service;
  let stack: Stack;
  let ids: string[];

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "consortium-moving-"));
    const data = join(kept, "service.jsonl");
    copyFileSync(data, join(dataDir, "state.jsonl"));
    service = await startService({ ...golden, dataDir, clock: clockAfter(readFileSync(data, "utf8")) });
    stack = await Stack.create({
      program: readFileSync(join(kept, "program.cjs"), "utf8"),
      env: { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl },
      plugin: true,
    });
    await stack.ok(["stack", "import", "--file", join(kept, "stack.json")]);
    ids = await stack.ids();
  });
  afterAll(async () => {
    stack.remove();
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("moves to the plugin: unchanged, without a call; a report says so", async () => {
    console.log(await report(stack, onPlugin));
    require("node:fs").writeFileSync("/tmp/both-plan1.json", (await stack.ok(["preview", "--json"], onPlugin)).stdout);
    const { code, text } = await stack.up(onPlugin, "--expect-no-changes");
    expect({ code, text }).toMatchObject({ code: 0 });
    expect(text).toMatch(/Resources:\n +7 unchanged/);
    expect(service.calls).toEqual([]);
    expect(await stack.ids()).toEqual(ids);
    expect(await adaptersOf(stack)).toEqual(["consortium:index:"]);
  });

  test("is there as it was, for a refresh and a preview after it", async () => {
    expect(await stack.refresh(onPlugin, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await stack.preview(onPlugin, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect((await stack.outputs()).password).toMatch(/\S{8}/);
    expect(changing(service)).toEqual([]);
  });

  test("moves back: only the states change, which keep the code of a dynamic provider", async () => {
    service.clearCalls();
    console.log(await report(stack, onDynamic));
    require("node:fs").writeFileSync("/tmp/both-plan2.json", (await stack.ok(["preview", "--json"], onDynamic)).stdout);
    const { code, text } = await stack.up(onDynamic);
    expect({ code, text }).toMatchObject({ code: 0 });
    console.log(text);
    expect(changing(service)).toEqual([]);
    expect(await stack.ids()).toEqual(ids);
    expect(await adaptersOf(stack)).toEqual(["pulumi-nodejs:dynamic/consortium:"]);
    expect(await stack.refresh(onDynamic, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await stack.preview(onDynamic, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
