import { readFileSync, writeFileSync } from "node:fs";
import { type FaultKind, type Service } from "../../service/index";
import { until } from "../support/until";
import { connection, consortium, type Ended } from "./command";
import { changes, deletions, file, own, serviceWith, there } from "./probed";

/* Nothing of `consortium probe` is left, whatever happens. As a process: tests/e2e/service/probe.test.ts. */

const probe = (service: Service, ...args: string[]): Promise<Ended> =>
  consortium(["probe", "--wait", "6", ...args], connection(service));

describe("it deletes what it made, innermost first", () => {
  test("after an error in the middle, which is said, and nothing is saved", async () => {
    const service = await serviceWith();
    service.faults.add({ kind: "status", status: 500, method: "GET", route: /\/appcreds$/, times: Infinity });
    service.faults.add({ kind: "resetAfter", method: "POST", route: /\/nodes$/ });
    const { code, stdout, stderr } = await probe(service, "--yes", "--save", file("none.json"));
    expect([code, stderr]).toEqual([1, expect.stringContaining("consortium: POST /consortia/")]);
    expect(stdout).toContain("A create answers");
    expect(stdout).toContain("Everything that the probe created is deleted.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    expect(() => readFileSync(file("none.json"))).toThrow("ENOENT");
  });

  test.each<FaultKind>([
    { kind: "resetAfter" },
    { kind: "status", status: 504, acted: true },
    { kind: "html", status: 200, acted: true },
    { kind: "truncated", wellFormed: true },
  ])("after a consortium whose create was answered by $kind, by its name", async (fault) => {
    const service = await serviceWith();
    const kept = await own(service);
    service.faults.add({ ...fault, method: "POST", route: "/consortia" });
    expect((await probe(service, "--yes")).code).toBe(1);
    expect(there(service)).toEqual([kept]);
    expect(deletions(service)).toEqual(["consortia"]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("after %s", async (signal) => {
    const service = await serviceWith({ timing: { nodeStart: 600_000 } });
    const listeners = process.listenerCount(signal);
    const ended = probe(service, "--yes");
    await until(() => service.calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
    process.emit(signal, signal);
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(stderr).toContain("Deleting what was created.");
    expect(stdout).toContain("Everything that the probe created is deleted.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    expect(process.listenerCount(signal)).toBe(listeners);
  });

  test("and says with ids what it could not delete", async () => {
    const service = await serviceWith();
    const ofConsortia = { method: "DELETE", route: "/consortia/:consortiumId" };
    service.faults.add({ kind: "status", status: 403, ...ofConsortia, times: Infinity });
    const { code, stderr, stdout } = await probe(service, "--yes");
    const [left] = there(service);
    expect([code, there(service).length]).toEqual([1, 1]);
    expect(stderr).toContain(`consortium ${left}: HTTP 403 to its deletion`);
    expect(stdout).not.toContain("is left.");
  });
});

test("without a terminal and without --yes, it makes nothing", async () => {
  const service = await serviceWith();
  const { code, stderr } = await probe(service);
  const why = "Nothing was created: confirm at a terminal, or use --yes.";
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  expect(stderr).toMatch(
    /creates a consortium, .* an environment \(quorum, raft\)\nand a node of the default size, all with the name probe-\w+, and a credential\./,
  );
  expect(service.calls).toEqual([]);
});

test("where the plan has no room for a consortium, it makes nothing", async () => {
  const service = await serviceWith({ limits: { consortia: 1 } });
  await own(service);
  const { code, stderr } = await probe(service, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringContaining("The plan allows 1 consortia, and there are 1.")]);
  expect(changes(service).map(({ path }) => path)).toEqual(["/authtoken"]);
});

test.each([
  ["nobody", "nobody cannot be read: there is no such file."],
  [file("broken.json"), "broken.json is not JSON."],
  [file("other.json"), "answers.gone: Invalid option"],
])("serve --like %s is refused in a sentence", async (whom, why) => {
  writeFileSync(file("broken.json"), "{");
  writeFileSync(file("other.json"), JSON.stringify({ answers: { gone: 200 } }));
  const { code, stderr } = await consortium(["serve", "--like", whom]);
  const takes = "consortium: --like takes specification, hosted, or a file that `consortium probe --save` wrote. ";
  expect([code, stderr]).toEqual([1, expect.stringContaining(takes)]);
  expect(stderr).toContain(why);
});

describe("it asks a node what its ledger really is", () => {
  const client = "Geth/v1.9.7-stable(quorum-v2.7.0)/linux-amd64/go1.13";
  test.each([
    ["the usual one", {}, { hardFork: "berlin", clock: "seconds", codeSize: 32_768 }],
    [
      "another one",
      { hardFork: "shanghai", clock: "nanoseconds", codeSize: 24_576, clientVersion: client },
      { hardFork: "shanghai", clock: "nanoseconds", codeSize: 24_576, clientVersion: client },
    ],
  ] as const)("%s", async (_what, quorumLedger, found) => {
    const service = await serviceWith({ ledger: true, answers: { quorumLedger } });
    const { code, stdout } = await probe(service, "--yes", "--wait", "60", "--save", file("ledger.json"));
    expect(code).toBe(0);
    const saved = JSON.parse(readFileSync(file("ledger.json"), "utf8")) as { answers: { quorumLedger: object } };
    expect(saved.answers.quorumLedger).toEqual({
      clientVersion: expect.stringContaining("quorum") as string,
      ...found,
    });
    for (const told of [`${found.codeSize} bytes`, found.clock, `${found.hardFork}: blocks have`])
      expect(stdout).toContain(told);
    expect(there(service)).toEqual([]);
  });
});
