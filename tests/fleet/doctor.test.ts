import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { consortium } from "../cli/command";
import { json, peer } from "../support/peer";
import { network } from "../support/network";
import { start } from "../support/service";
import { temporary, writeIn } from "./made";
import { StubPulumi } from "./stub-pulumi";

/* The findings of `doctor` for fleets that do not run, with the next steps. */

/** No process has an id as high as this. */
const ended = 2 ** 22 + 1;
const keys = { ACME_KEY: "canary-acme-5f02", GLOBEX_KEY: "canary-globex-1c9d" };

let folder: string;
let pulumi: StubPulumi;
let address: string;
beforeEach(async () => {
  folder = temporary();
  pulumi = new StubPulumi(join(folder, "stub"));
  pulumi.stacks = { "trade/acme-prod": { tags: {}, networks: [], ids: [] } };
  writeIn(folder, "trade.yaml", "members: [m]\n");
  mkdirSync(join(folder, "state"));
  address = (await peer(json(200, []))).baseUrl;
});

interface Told {
  findings: { about: string; state: string; text: string; next?: string }[];
  todo: string[];
}

/** The findings for a fleet of two organizations, with these settings. */
async function examined(more: object = {}, env: Record<string, string> = {}, acme: object = {}) {
  const stacks = { prod: "trade.yaml" };
  const organizations = {
    acme: { apiKey: { env: "ACME_KEY" }, stacks, ...acme },
    globex: { apiKey: { env: "GLOBEX_KEY" }, stacks },
  };
  const text = { project: "trade", backend: "file://./state", organizations, ...more };
  const file = writeIn(folder, "fleet.yaml", JSON.stringify(text));
  const own = { ...(pulumi.env as Record<string, string>), ...keys, CONSORTIUM_BASE_URL: address, ...env };
  const { code, stdout, stderr } = await consortium(["doctor", file, "--json"], own);
  const shown = await consortium(["fleet", "doctor", file], own); // its earlier name
  expect([stderr, shown.stderr]).toEqual(["", ""]);
  const told = JSON.parse(stdout) as Told;
  // This repository is not a user's project, and the stub has no plugins.
  const findings = told.findings.filter(({ about }) => !["package", "Pulumi SDK", "plugin"].includes(about));
  const wrong = findings.filter(({ state }) => state === "wrong");
  expect([code, shown.code]).toEqual(Array(2).fill(told.findings.some(({ state }) => state === "wrong") ? 1 : 0));
  for (const one of wrong) expect(shown.stdout).toContain(`✗ WRONG ${one.about}: ${one.text}`);
  for (const key of Object.values(keys)) expect(stdout + shown.stdout).not.toContain(key);
  expect(pulumi.calls.filter((call) => !/^(version|plugin ls|stack ls)/.test(call))).toEqual([]);
  return {
    findings,
    wrong: wrong.map(({ about, text: why }) => `${about}: ${why}`),
    next: wrong.map((one) => one.next),
  };
}

test("a working fleet: each organization's key, the backend, and no next steps", async () => {
  const { service } = await start({ clock: undefined });
  address = service.baseUrl;
  const { findings, wrong } = await examined({}, { ACME_KEY: service.apiKey, GLOBEX_KEY: service.apiKey });
  expect(wrong).toEqual([]);
  expect(findings.map(({ about }) => about)).toEqual([
    ...["Node.js", "Pulumi CLI"],
    ...["acme: service", "acme: API key", "globex: service", "globex: API key", "backend"],
  ]);
  expect(findings.at(-1)!.text).toBe(`file://${folder}/state: 1 of 2 stacks exist`);
});

test.each<[string, () => Promise<Awaited<ReturnType<typeof examined>>>, (string | RegExp)[]]>([
  [
    "a key that nobody set",
    () => examined({}, { GLOBEX_KEY: "" }),
    ["globex: API key: The API key of the organization globex is empty or not set. Nothing was started"],
  ],
  [
    "a program for a key that fails",
    () => examined({}, {}, { apiKey: { command: ["false"] } }),
    [/^acme: API key: The API key of the organization acme cannot be read by it: it ended with 1/],
  ],
  [
    "a service that is not there",
    () => examined({}, {}, { baseUrl: "http://127.0.0.1:1/api/v1" }),
    ["acme: service: the connection was refused"],
  ],
  [
    "a passphrase that nobody set",
    () => examined({ passphrase: { env: "NO_PASSPHRASE" } }),
    ["backend: The passphrase is empty or not set. Nothing was started"],
  ],
])("%s", async (_, look, expected) => {
  expect((await look()).wrong).toEqual(
    expected.map((one) => (typeof one === "string" ? one : (expect.stringMatching(one) as string))),
  );
});

test("a key of another organization than the file says", async () => {
  const { service, time } = await start();
  await network(service, time);
  address = service.baseUrl;
  const env = { ACME_KEY: service.apiKey, GLOBEX_KEY: service.apiKey };
  const { wrong } = await examined({}, env, { organization: "o-other" });
  expect(wrong.filter((one) => !one.includes("clock"))).toEqual([expect.stringMatching(/^acme: settings: .*o-other/)]);
});

test("a backend that does not exist yet is created by the first run", async () => {
  const { findings, wrong } = await examined({ backend: "file://./other" });
  expect(wrong).toEqual([]);
  expect(findings.at(-1)).toMatchObject({ about: "backend", state: "note" });
});

describe("a blocked stack", () => {
  const record = (host: string, pid: number) => {
    const file = writeIn(folder, ".consortium/fleet/trade/journal/acme-prod.json", "");
    writeFileSync(file, JSON.stringify({ user: "ada", host, pid, since: "2026-11-27T18:00:00Z" }));
    return file;
  };
  const locked = (host: string, pid: number, project = "trade") =>
    writeIn(
      folder,
      `state/.pulumi/locks/organization/${project}/acme-prod/a.json`,
      JSON.stringify({ pid, username: "ada", hostname: host, timestamp: "2026-11-27T18:00:00Z" }),
    );
  const since = "since 2026-11-27T18:00:00Z";

  test("by a lock of another machine: wait or cancel; locks in other projects do not count", async () => {
    locked("ci-1", 7, "other");
    expect((await examined()).wrong).toEqual([]);
    locked("ci-1", 7);
    const { wrong, next } = await examined();
    expect(wrong).toEqual([`acme-prod: lock: the stack is locked by ada@ci-1 (process 7) ${since}`]);
    expect(next).toEqual([
      expect.stringMatching(/^Wait for that run\. If it was killed, run `pulumi cancel --yes --stack acme-prod`/),
    ]);
  });

  test("by the lock of a killed run: the next run continues", async () => {
    record(hostname(), ended);
    locked(hostname(), ended);
    const { wrong, next } = await examined();
    expect(wrong).toEqual([
      `acme-prod: run: a run was killed while it was changing the stack: ada@${hostname()} (process ${ended}) ${since}`,
      `acme-prod: lock: the stack is locked by ada@${hostname()} (process ${ended}) ${since}, which has ended`,
    ]);
    expect(new Set(next).size).toBe(1);
    expect(next[0]).toMatch(/^Run `consortium fleet up .*fleet\.yaml --only acme-prod`, which continues/);
  });

  test("by the lock of an active run", async () => {
    const release = await lock(record(hostname(), process.pid), { realpath: false });
    locked(hostname(), process.pid);
    const { wrong, next } = await examined();
    await release();
    expect(wrong).toEqual([
      `acme-prod: run: a run is changing the stack: ada@${hostname()} (process ${process.pid}) ${since}`,
    ]);
    expect(next).toEqual(["Wait for that run."]);
  });
});
