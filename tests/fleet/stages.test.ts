import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { consortium } from "../cli/command";
import { type Summary, temporary, writeIn } from "./made";
import { StubPulumi } from "./stub-pulumi";

/* A fleet as a pipeline runs it: 44 stacks in three stages, each in four shards. One fails. */

const folder = temporary();
const pulumi = new StubPulumi(join(folder, "stub"));
const file = join(folder, "fleet.yaml");
writeIn(folder, "trade.yaml", "members: [m]\nlimits: { consortiaPerOrganization: 44 }\n");
const many = (count: number, name: string, dependsOn: (at: number) => string[]) =>
  Array.from({ length: count }, (_, at) => [
    `${name}-${at}`,
    { definition: "trade.yaml", name: `${name}-${at}`, dependsOn: dependsOn(at) },
  ]);
const stacks = Object.fromEntries([
  ...many(35, "rest", (at) => [`acme-pilot-${at % 8}`]),
  ...many(8, "pilot", () => ["acme-canary-0"]),
  ...many(1, "canary", () => []),
]) as object;
const organizations = { acme: { apiKey: { env: "ACME_KEY" }, stacks } };
writeFileSync(file, JSON.stringify({ project: "fleet", backend: `file://${folder}/state`, organizations }));

const fleet = (args: string[], orders: Record<string, string> = {}) =>
  consortium(["fleet", ...args], {
    ...(pulumi.env as Record<string, string>),
    ACME_KEY: "canary-acme-5f02",
    ...orders,
  });

type Matrices = ({ shard: string[] } | null)[];
const ups = () => pulumi.calls.flatMap((call) => /^up .*--stack (\S+)/.exec(call)?.[1] ?? []);
const results = new Map<string, string>();

/** Does what a forge does: runs all shards of a stage, then the next stage if none failed. Returns the number of stages. */
async function pipeline(matrices: Matrices, orders: Record<string, string> = {}): Promise<number> {
  for (const [at, matrix] of matrices.entries()) {
    const stage = String(at + 1);
    const codes = (matrix?.shard ?? []).map(async (shard) => {
      const ended = await fleet(["up", file, "--yes", "--stage", stage, "--shard", shard, "--json"], orders);
      const name = `${stage}-${shard.split("/")[0]}.json`;
      results.set(name, writeIn(folder, name, ended.stdout));
      return ended.code;
    });
    if ((await Promise.all(codes)).some((code) => code !== 0)) return at + 1;
  }
  return matrices.length;
}

test("order, stop, resume and the merged report", async () => {
  const planned = await fleet(["plan", file, "--shards", "4", "--stages", "3", "--matrix", "github"]);
  const matrices = JSON.parse(planned.stdout) as Matrices;
  expect(matrices.map((matrix) => matrix?.shard.length)).toEqual([1, 4, 4]);
  expect((await fleet(["plan", file, "--shards", "4"])).stderr).toBe("44 of 44 stacks in 9 shards of 3 stages\n");

  // The stage of the stack that fails is the last one.
  expect(await pipeline(matrices, { "STUB_acme-pilot-7": "fail:out of order" })).toBe(2);
  expect(ups()).toHaveLength(9);
  expect(ups()[0]).toBe("acme-canary-0");
  expect(ups().filter((name) => name.includes("rest"))).toEqual([]);

  const stopped = await fleet(["merge", ...results.values()]);
  expect(stopped.stdout).toContain("8 of 44 stacks ok, 1 failed, 35 not begun; 8 created;");
  expect(stopped).toMatchObject({
    code: 1,
    stderr: "Stage 3 did not run: 35 stacks. Run these shards again, and merge all of them.\n",
  });
  const { code, stderr, stdout } = await fleet(["status", ...results.values()]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: stopped.stderr });
  expect(stdout).toMatch(/^acme-pilot-7 +failed .*out of order/m);
  expect(stdout).toContain("8 more stacks ready\n8 of 44 stacks ready (18 %), 1 failed, 35 not begun");

  const again = await fleet(["resume", ...results.values(), "--matrix", "github"]);
  const left = JSON.parse(again.stdout) as Matrices;
  expect(left.map((matrix) => matrix?.shard.length)).toEqual([undefined, 1, 4]);
  expect((await fleet(["resume", ...results.values()])).stdout.split("\n")).toEqual([
    `--stage 2 --shard ${left[1]!.shard[0]}`,
    ...[1, 2, 3, 4].map((index) => `--stage 3 --shard ${index}/4`),
    "",
  ]);

  expect(await pipeline(left)).toBe(3);
  const merged = await fleet(["merge", ...results.values(), "--json"]);
  const { stacks, total, ok } = JSON.parse(merged.stdout) as Summary;
  expect({ code: merged.code, count: stacks.length, total, ok }).toMatchObject({
    code: 0,
    count: 44,
    total: { created: 43, unchanged: 1 },
    ok: true,
  });
  const order = stacks.map(({ stack }) => /canary|pilot|rest/.exec(stack)![0]);
  expect(order).toEqual([
    ...Array<string>(1).fill("canary"),
    ...Array<string>(8).fill("pilot"),
    ...Array<string>(35).fill("rest"),
  ]);
  expect(ups()).toHaveLength(9 + 2 + 35);
});
