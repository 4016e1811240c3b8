import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import { join } from "node:path";
import { addresses } from "../../service/command/serve";
import { startService } from "../../service/index";
import { consortium } from "../cli/command";
import { until } from "../support/until";
import { client, newFolder, start } from "./helpers";

/* What `consortium serve` prints. As a process, with signals and a ledger: tests/e2e/service/command.test.ts. */

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));
afterEach(() => jest.restoreAllMocks());

/** What it has printed once it serves; then it is stopped. */
async function served(args: string[], { isTTY = false, more = ["--no-ledger"] } = {}) {
  const before = process.stdout.isTTY;
  process.stdout.isTTY = isTTY;
  try {
    const printed = await consortium(["serve", "--port", "0", "--no-console", ...more, ...args]);
    const [baseUrl = ""] = /http:\S+\/api\/v1/.exec(printed.stdout) ?? [];
    if (baseUrl !== "") {
      process.emit("SIGTERM", "SIGTERM");
      const gone = () =>
        client(baseUrl, "k")("GET", "/").then(
          () => false,
          () => true,
        );
      await until(gone);
    }
    return { ...printed, baseUrl };
  } finally {
    process.stdout.isTTY = before;
  }
}
const kept = () => readFileSync(join(dataDir, "api-key"), "utf8").trim();

describe("the key is shown", () => {
  const shown = /^API key: (\S+) \(also in .*\)$/m;
  const hidden = /^The API key is in (\S+)\.$/m;

  test("on a terminal, once, where it is new", async () => {
    const first = await served(["--data", dataDir], { isTTY: true });
    expect(shown.exec(first.stdout)?.[1]).toBe(kept());
    expect(first.stdout).not.toMatch(hidden);
    const lines = [
      "^Consortium service at http://",
      "^  export CONSORTIUM_BASE_URL=http",
      "^  export CONSORTIUM_API_KEY=",
    ];
    for (const line of lines) expect(first.stdout).toMatch(new RegExp(line, "m"));
    const second = await served(["--data", dataDir], { isTTY: true });
    expect(second.stdout).not.toMatch(shown);
    expect(hidden.exec(second.stdout)?.[1]).toBe(join(dataDir, "api-key"));
  });

  test.each([
    ["never where it was given", ["--api-key", "given"], true, false],
    ["never where the output is not a terminal", [], false, false],
    ["where it is in memory alone", [], true, true],
    ["wherever --show-key asks for it", ["--show-key"], false, true],
  ])("%s", async (_, args, isTTY, isShown) => {
    const { stdout } = await served(args, { isTTY });
    expect([shown.test(stdout), hidden.test(stdout)]).toEqual([isShown, !isShown]);
    expect(stdout).toContain("Data is in memory and lost when the service stops");
  });
});

test.each([
  ["several organizations with a folder", true, ["a", "b"], true],
  ["one organization with a folder", true, ["a"], false],
  ["several organizations in memory", false, ["a", "b"], false],
])("the file of all keys is named for %s", async (_, isKept, names, isNamed) => {
  const args = [...(isKept ? ["--data", dataDir] : []), ...names.flatMap((name) => ["--organization", name])];
  const { stdout } = await served(args);
  expect(stdout.includes("The keys of all organizations are in ")).toBe(isNamed);
  expect(stdout.includes(`Data is kept in ${dataDir}.`)).toBe(isKept);
});

test.each([
  ["ends", [], 0],
  ["is refused", ["--tls-cert", "no-file"], 1],
])("that a start takes a while is not said once it %s", async (_, args, exit) => {
  const [set, clear] = [jest.spyOn(globalThis, "setTimeout"), jest.spyOn(globalThis, "clearTimeout")];
  for (let time = 1; time <= 2; time++) {
    expect((await served(args)).code).toBe(exit);
    const announced = set.mock.calls.flatMap(([, ms], at) =>
      ms === 1_000 ? [set.mock.results[at]!.value as unknown] : [],
    );
    expect(announced).toHaveLength(time);
    expect(clear).toHaveBeenCalledWith(announced.at(-1));
  }
});

test("--json tells the same to programs", async () => {
  const { stdout } = await served(["--json", "--data", dataDir, "--organization", "a", "--organization", "b"]);
  const told = JSON.parse(stdout) as Record<string, unknown>;
  expect(told).toEqual({
    baseUrl: `${String(told.url)}/api/v1`,
    url: `http://127.0.0.1:${String(told.port)}`,
    port: expect.any(Number) as number,
    ledger: "off",
    pid: process.pid,
    data: dataDir,
    dataDir,
    apiKeyFile: join(dataDir, "api-key"),
    organizations: ["a", "b"].map((name) => ({ name, id: expect.any(String) as string })),
    console: null,
  });
  const { stdout: inMemory } = await served(["--json"]);
  expect(JSON.parse(inMemory)).toMatchObject({ dataDir: null, organizations: [{ name: "local" }] });
});

describe("other machines", () => {
  const interfaces = () =>
    jest.spyOn(os, "networkInterfaces").mockReturnValue({
      lo: [{ internal: true, family: "IPv4", address: "127.0.0.1" }],
      eth: [
        { internal: false, family: "IPv4", address: "192.0.2.5" },
        { internal: false, family: "IPv6", address: "2001:db8::1", scopeid: 0 },
        { internal: false, family: "IPv6", address: "fe80::1", scopeid: 3 },
      ],
      none: undefined,
    } as never);

  test.each([
    ["127.0.0.1", []],
    ["0.0.0.0", ["http://192.0.2.5:5/api/v1"]],
    ["::", ["http://192.0.2.5:5/api/v1", "http://[2001:db8::1]:5/api/v1"]],
  ])("can reach what listens on %s at %j", (host, found) => {
    interfaces();
    const service = { baseUrl: "http://127.0.0.1:5/api/v1", port: 5 } as never;
    expect(addresses({ host }, service)).toEqual(found);
  });

  test("are warned of, with their addresses, on all addresses alone", async () => {
    interfaces();
    const everywhere = await served(["--host", "0.0.0.0"]);
    expect(everywhere.stdout).toMatch(/^From other machines: http:\/\/192\.0\.2\.5:\d+\/api\/v1$/m);
    expect(everywhere.stderr).toContain(
      "listens on all addresses of this machine, so other machines can reach it. API",
    );
    const here = await served([]);
    expect([here.stdout, here.stderr]).toEqual([expect.not.stringContaining("From other machines"), ""]);
    expect((await served(["--host", "0.0.0.0", "--quiet", "--json"])).stderr).toBe("");
  });
});

describe("a folder whose objects are missing", () => {
  const file = (...path: string[]) => {
    mkdirSync(join(dataDir, ...path.slice(0, -1)), { recursive: true });
    writeFileSync(join(dataDir, ...path), "x");
  };
  test.each<[string, () => void, string | undefined]>([
    ["a file deep in chains", () => file("chains", "e1", "blocks"), "chains"],
    [
      "a file beside a folder in accounts",
      () => (file("accounts", "a"), mkdirSync(join(dataDir, "accounts", "b"))),
      "accounts",
    ],
    ["a key", () => file("api-key"), "api-key"],
    ["folders alone", () => mkdirSync(join(dataDir, "chains", "e1"), { recursive: true }), undefined],
    ["what is not its own", () => file("notes", "a"), undefined],
  ])("is damaged where there is %s", async (_, make, part) => {
    make();
    const started = startService({ dataDir });
    if (part === undefined) return void (await (await started).close());
    await expect(started).rejects.toThrow(`is damaged: it is missing, but ${part} exists`);
  });
});

/* Help, version, unknown options: tests/cli/command-line.test.ts. */
describe("errors are one sentence, with exit code 1", () => {
  test.each([
    [["--port", "70000"], /--port.*must be a whole number from 0 to 65535/],
    [["--data", ""], /It must name a folder/],
    [["--limit", "gas"], /It must be name=number, with one of gas, memory, batch/],
    [["--limit", "colour=5"], /It must be name=number/],
    [["--port", "0", "--limit", "gas=0"], /^consortium: .*callLimits\.gas.* \[invalid-setting: /],
  ])("serve %j", async (args, message) => {
    const { code, stdout, stderr } = await consortium(["serve", ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
  });

  test("a port in use, and who has it", async () => {
    const { service } = await start();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    for (const [port, whose] of [
      [service.port, "another Consortium service, such as that of npm start. Use that one, or choose another port:"],
      [(other.address() as AddressInfo).port, "another program. Choose another port:"],
    ] as const) {
      const { code, stderr } = await consortium(["serve", "--port", `${port}`]);
      const next = `--port ${port + 1}, or --port 0 for any free one.`;
      const why = `The port is in use: 127.0.0.1:${port} is taken by ${whose} ${next}`;
      expect([code, stderr]).toEqual([1, expect.stringContaining(`consortium: ${why} [port-taken: `)]);
    }
    other.close();
  });
});
