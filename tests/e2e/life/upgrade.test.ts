import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, startService } from "../../../service";
import { golden } from "../../golden/service.mjs";
import { clockAfter } from "../support/golden";
import { root, Stack } from "../support/stack";
import { networkOf } from "../support/world";

/* States that earlier versions made go on with this one, through the real CLI (see tests/golden/make.mjs). */

const folder = join(root, "tests/golden");
const versions = readdirSync(folder).filter((name) => /^\d/.test(name));

test("there is one of the first version", () => expect(versions).toContain("0.1.0"));

describe.each(versions)("a state of version %s", (version) => {
  const kept = join(folder, version);
  let dataDir: string;
  let service: Service;
  let stack: Stack;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "consortium-golden-"));
    copyFileSync(join(kept, "service.jsonl"), join(dataDir, "state.jsonl"));
    service = await startService({
      ...golden,
      dataDir,
      clock: clockAfter(readFileSync(join(kept, "service.jsonl"), "utf8")),
    });
    stack = await Stack.create({
      program: readFileSync(join(kept, "program.cjs"), "utf8"),
      inline: true,
      env: { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl },
    });
    await stack.ok(["stack", "import", "--file", join(kept, "stack.json")]);
  });
  afterAll(async () => {
    stack.remove();
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("says what version made it", async () => {
    for (const { outputs } of await stack.resources()) expect(outputs.__version).toBe(1);
  });

  test("needs no change, and an up makes no call", async () => {
    expect(await stack.up({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(service.calls).toEqual([]);
  });

  test("is found as it is by a refresh", async () => {
    expect(await stack.refresh({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect((await stack.outputs()).password).toMatch(/\S{8}/);
  });

  test("is changed in place", async () => {
    service.clearCalls();
    stack.program(readFileSync(join(kept, "program.cjs"), "utf8").replace('"golden"', '"changed"'));
    expect(await stack.up()).toMatchObject({ code: 0 });
    const writes = service.calls
      .filter(({ method }) => method !== "GET")
      .map(({ method, route }) => `${method} ${route}`);
    expect(writes).toEqual(["PATCH /consortia/:consortiumId"]);
  });

  test("is destroyed to nothing", async () => {
    await stack.ok(["destroy", "--yes", "--skip-preview"]);
    expect(await networkOf(service.baseUrl, service.apiKey)).toMatchObject({ consortia: [], environments: [] });
    expect(await stack.resources()).toEqual([]);
  });
});
