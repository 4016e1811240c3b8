import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { consortium } from "../cli/command";
import { json, peer } from "../support/peer";
import { network } from "../support/network";
import { start } from "../support/service";
import { writeIn } from "./made";
import { StubFleet } from "./stub-pulumi";

/* The findings of `doctor` for fleets that do not run, with the next steps. */

/** No process has an id as high as this. */
const ended = 2 ** 22 + 1;
const keys = { ACME_KEY: "canary-acme-5f02", GLOBEX_KEY: "canary-globex-1c9d" };

let own: StubFleet;
let address: string;
beforeEach(async () => {
  own = new StubFleet("trade");
  own.pulumi.stacks = { "trade/acme-prod": { tags: {}, networks: [], ids: [] } };
  mkdirSync(join(own.folder, "state"));
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
  const file = own.write(organizations, { project: "trade", ...more });
  const all = { ...own.pulumi.env, ...keys, CONSORTIUM_BASE_URL: address, ...env };
  const { code, stdout, stderr } = await consortium(["doctor", file, "--json"], all);
  const shown = await consortium(["fleet", "doctor", file], all); // its earlier name
  expect([stderr, shown.stderr]).toEqual(["", ""]);
  const told = JSON.parse(stdout) as Told;
  // This repository is not a user's project, and the stub has no plugins.
  const findings = told.findings.filter(({ about }) => !["package", "Pulumi SDK", "plugin"].includes(about));
  const wrong = findings.filter(({ state }) => state === "wrong");
  expect([code, shown.code]).toEqual(Array(2).fill(told.findings.some(({ state }) => state === "wrong") ? 1 : 0));
  for (const one of wrong) expect(shown.stdout).toContain(`✗ WRONG ${one.about}: ${one.text}`);
  for (const key of Object.values(keys)) expect(stdout + shown.stdout).not.toContain(key);
  expect(own.pulumi.calls.filter((call) => !/^(version|plugin ls|stack ls)/.test(call))).toEqual([]);
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
  expect(findings.at(-1)!.text).toBe(`file://${own.folder}/state: 1 of 2 stacks exist`);
});

test.each<[string, Parameters<typeof examined>, string | RegExp]>([
  [
    "a key that nobody set",
    [{}, { GLOBEX_KEY: "" }],
    "globex: API key: The API key of the organization globex is empty or not set. Nothing was started",
  ],
  [
    "a program for a key that fails",
    [{}, {}, { apiKey: { command: ["false"] } }],
    /^acme: API key: The API key of the organization acme cannot be read by it: it ended with 1/,
  ],
  [
    "a service that is not there",
    [{}, {}, { baseUrl: "http://127.0.0.1:1/api/v1" }],
    "acme: service: the connection was refused",
  ],
  [
    "a passphrase that nobody set",
    [{ passphrase: { env: "NO_PASSPHRASE" } }],
    "backend: The passphrase is empty or not set. Nothing was started",
  ],
])("%s", async (_, given, expected) => {
  const { wrong } = await examined(...given);
  expect(wrong).toEqual([typeof expected === "string" ? expected : expect.stringMatching(expected)]);
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
  const since = "2026-11-27T18:00:00Z";
  const here = hostname();
  const record = (pid: number) =>
    writeIn(
      own.folder,
      ".consortium/fleet/trade/journal/acme-prod.json",
      JSON.stringify({ user: "ada", host: here, pid, since }),
    );
  const locked = (host: string, pid: number, project = "trade") =>
    writeIn(
      own.folder,
      `state/.pulumi/locks/organization/${project}/acme-prod/a.json`,
      JSON.stringify({ pid, username: "ada", hostname: host, timestamp: since }),
    );
  const by = (host: string, pid: number) => `ada@${host} (process ${pid}) since ${since}`;

  test("by a lock of another machine: wait or cancel; locks in other projects do not count", async () => {
    locked("ci-1", 7, "other");
    expect((await examined()).wrong).toEqual([]);
    locked("ci-1", 7);
    const { wrong, next } = await examined();
    expect(wrong).toEqual([`acme-prod: lock: the stack is locked by ${by("ci-1", 7)}`]);
    expect(next[0]).toMatch(/^Wait for that run\. If it was killed, run `pulumi cancel --yes --stack acme-prod`/);
  });

  test.each<[string, number, run: string, lock: string[], next: RegExp]>([
    [
      "a killed run: the next run continues",
      ended,
      "a run was killed while it was changing the stack",
      [`acme-prod: lock: the stack is locked by ${by(here, ended)}, which has ended`],
      /^Run `consortium fleet up .*fleet\.yaml --only acme-prod`, which continues/,
    ],
    ["an active run", process.pid, "a run is changing the stack", [], /^Wait for that run\.$/],
  ])("by the lock of %s", async (_, pid, run, lines, advice) => {
    const own = record(pid);
    const release = pid === ended ? undefined : await lock(own, { realpath: false });
    locked(here, pid);
    const { wrong, next } = await examined();
    await release?.();
    expect(wrong).toEqual([`acme-prod: run: ${run}: ${by(here, pid)}`, ...lines]);
    expect([...new Set(next)]).toEqual([expect.stringMatching(advice)]);
  });
});
