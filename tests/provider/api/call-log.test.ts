import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CallLog, type LoggedCall } from "../../../provider/api/call-log";
import { Secrets } from "../../../provider/api/secrets";
import { type LogLevel } from "../../../provider/api/settings";
import { apiKey, failure, http, json, peer, text } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* The log of calls: one line of JSON for each, and none of the secrets. */

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "log-")), "calls.log");
const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

interface LogOptions {
  level?: LogLevel;
  secrets?: unknown[];
  limit?: number;
}
const logAt = (file: string, { level = "full", secrets = [], limit = 10_000 }: LogOptions = {}) =>
  new CallLog({ file, source: "a test" }, level, new Secrets(secrets), limit);
/** Without the warning that begins a log of whole bodies. */
const callsOf = (file: string) => linesOf(file).filter(({ level }) => level !== "warning");
const call = (more: Partial<LoggedCall> = {}): LoggedCall => ({
  method: "GET",
  path: "/x",
  attempt: 1,
  ms: 1.4,
  ...more,
});
const answer = (body: unknown, status = 200, headers = {}) => ({ status, headers, text: JSON.stringify(body) });

test("a line has the call, its resource, the result and the number of the attempt", async () => {
  virtualTime();
  const file = newFile();
  const { baseUrl } = await peer((response, seen, socket) =>
    json(seen === 1 ? 503 : 201, { _id: "c1" }, { "x-request-id": `r-${seen}` })(response, seen, socket),
  );
  const caller = { verb: "create", resource: 'Consortium "trade"' };
  const deadline = { at: Infinity, limit: "300 s", caller };
  const client = http(baseUrl, { log: file }).until(deadline);
  await client.request("POST", "/consortia", {
    query: { a: "b" },
    body: { name: "trade", parent_id: "p-1" },
    repeatable: "freely",
  });
  const common = { ...caller, pid: process.pid, method: "POST", path: "/consortia", request: { parent_id: "p-1" } };
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
  const ms = expect.any(Number) as number;
  const asked = linesOf(file).filter(({ method }) => method === "POST");
  expect(asked).toEqual([
    { time, ms, level: "error", ...common, status: 503, attempt: 1, requestId: "r-1", response: { _id: "c1" } },
    { time, ms, level: "info", ...common, status: 201, attempt: 2, requestId: "r-2", response: { _id: "c1" } },
  ]);
  expect(readFileSync(file, "utf8")).not.toContain(apiKey);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a call without an answer says why", async () => {
  const file = newFile();
  await failure(http("http://127.0.0.1:1/api/v1", { log: file }, { patienceMs: 0 }).request("GET", "/x"));
  expect(linesOf(file)).toMatchObject([{ level: "error", error: "the connection was refused", attempt: 1 }]);
});

test.each<[LogLevel, number, boolean]>([
  ["errors", 1, false],
  ["calls", 2, false],
  ["bodies", 2, true],
  ["full", 2, true],
])("the level %s", (level, count, bodies) => {
  const file = newFile();
  const log = logAt(file, { level });
  log.write(call({ answer: answer({ _id: "a1" }) }));
  log.write(call({ answer: answer({ errorMessage: "no" }, 400), body: { b: 2 } }));
  const lines = callsOf(file);
  expect(lines).toHaveLength(count);
  expect(linesOf(file).length - count).toBe(level === "full" ? 1 : 0);
  expect(lines.some((line) => "response" in line || "request" in line)).toBe(bodies);
});

const canary = 'canary-7/"quoted" & ünique';
test.each<[string, Partial<LoggedCall>]>([
  ["a password in an answer", { answer: answer({ password: canary, list: [{ api_key: canary, token: canary }] }) }],
  ["settings of a configuration", { body: { name: "gas", details: { gas_price: canary } } }],
  ["the key in a request for a token", { body: { apikey: canary }, path: "/authtoken" }],
  ["a marked argument, at any depth", { body: { extra: { deep: [{ zone: `is ${canary}` }] } } }],
  ["a marked argument as a key", { body: { [canary]: 1 } }],
  ["a long body, before it is cut", { body: { list: Array.from({ length: 500 }, () => canary) } }],
  ["a marked number", { body: { amount: 987654 } }],
  ["a marked short text", { body: { pin: "k7q" } }],
  ["a path", { path: `/x/${encodeURIComponent(canary)}` }],
  ["an answer that is no JSON", { answer: { status: 200, headers: {}, text: `<p>${canary}</p>` } }],
  [
    "an answer that quotes the request",
    { answer: answer({ errorMessage: `cannot take ${JSON.stringify(canary)}` }, 400) },
  ],
  ["a reason", { error: new Error(`no route to ${canary}`) }],
  ["the resource", { caller: { verb: "create", resource: `Node "${canary}"` } }],
])("%s is masked", (_, more) => {
  const file = newFile();
  logAt(file, { secrets: [canary, 987654, "k7q"] }).write(call(more));
  const line = readFileSync(file, "utf8");
  expect(line).toContain("[secret]");
  for (const part of ["canary", "nique", "987654", "k7q"]) expect(line).not.toContain(part);
  expect(callsOf(file)).toHaveLength(1);
});

test.each<[string, string, unknown]>([
  ["nothing, where a secret may be, and in a list", '{"token":null,"list":[null,7]}', { token: null, list: [null, 7] }],
  ["4,000 characters of JSON", `["${"x".repeat(3_996)}"]`, ["x".repeat(3_996)]],
  ["4,001 characters of JSON", `["${"x".repeat(3_997)}"]`, `["${"x".repeat(3_997)}"…`],
  ["4,000 characters of text", "<".repeat(4_000), "<".repeat(4_000)],
  ["4,001 characters of text", "<".repeat(4_001), `${"<".repeat(4_000)}…`],
  ["256 KiB", "<".repeat(262_144), `${"<".repeat(4_000)}…`],
  ["256 KiB and one", "<".repeat(262_145), "262145 characters"],
  ["no body", "", undefined],
])("an answer of %s is shown as it is, or cut", (_, text, shown) => {
  const file = newFile();
  logAt(file, { limit: 1e7 }).write(call({ answer: { status: 200, headers: {}, text } }));
  expect(callsOf(file)[0]!.response).toEqual(shown);
});

test("by default, a body shows facts from a list of names, in their form, and no more", () => {
  const file = newFile();
  const log = logAt(file, { level: "bodies", secrets: ["known-canary"] });
  const times = { created_at: "2026-11-29T19:54:10.042Z", deleted_at: "canary" };
  const hidden = {
    name: "canary-1",
    client_secret_id: "canary-2",
    details: { _id: "canary-3" },
    private_id: "canary 4",
  };
  const one = { _id: "n1", state: "initializing", _revision: "3", ...times, ...hidden };
  const other = { id: "n2", state: "x".repeat(50), membership_id: "m1", reportCount: 7, Total_Count: "canary-5" };
  log.write(
    call({
      path: "/nodes?name=canary-6&x=?",
      answer: answer([one, other]),
      body: { zone_id: "z1", email: "canary-7" },
    }),
  );
  log.write(call({ answer: answer({ data: { ...other, password: "canary-8" }, account: { id: "canary-9" } }) }));
  log.write(call({ answer: answer({ errorMessage: "no known-canary", error: { message: "canary-10" } }, 400) }));
  log.write(call({ answer: { status: 502, headers: {}, text: "<p>canary-11" } }));
  log.write(call({ answer: answer(true) }));
  log.write(call({ answer: answer("canary-12") }));
  log.write(call({ answer: answer(Array.from({ length: 400 }, (_, at) => ({ _id: `n-${at}`, name: "canary-13" }))) }));
  const lines = linesOf(file);
  expect(lines.slice(0, -1).map(({ path, request, response }) => ({ path, request, response }))).toEqual([
    {
      path: "/nodes",
      request: { zone_id: "z1" },
      response: [
        { _id: "n1", state: "initializing", _revision: "3", created_at: times.created_at },
        { id: "n2", membership_id: "m1", reportCount: 7 },
      ],
    },
    { path: "/x", response: {} },
    { path: "/x", response: { errorMessage: "no [secret]" } },
    { path: "/x", response: "12 characters" },
    { path: "/x", response: true },
    { path: "/x", response: undefined },
  ]);
  expect(String(lines.at(-1)!.response)).toHaveLength(4_001);
  expect(readFileSync(file, "utf8")).not.toContain("canary");
});

test("a full file is kept once more, each time; one of whole bodies begins with a warning", () => {
  const file = newFile();
  const log = logAt(file);
  for (let times = 0; times < 2; times++) {
    for (let count = 0; count < 100; count++) log.write(call({ body: { text: "x".repeat(200) } }));
    for (const one of [file, `${file}.1`]) {
      expect(statSync(one).size).toBeLessThan(11_000);
      const message = expect.stringMatching(/Do not send/) as string;
      expect(linesOf(one)[0]).toMatchObject({ level: "warning", message });
    }
  }
});

test("lines of several processes stay whole", async () => {
  const file = newFile();
  const script = `
    const { appendFileSync } = require("node:fs");
    for (let n = 0; n < 200; n++) appendFileSync(${JSON.stringify(file)}, JSON.stringify({ n, text: "x".repeat(3000) }) + "\\n");`;
  const others = [1, 2].map(() => promisify(execFile)(process.execPath, ["-e", script]));
  const log = logAt(file, { limit: 1e8 });
  for (let count = 0; count < 200; count++) log.write(call({ body: { text: "y".repeat(3000) } }));
  await Promise.all(others);
  expect(callsOf(file)).toHaveLength(600);
});

test("a file that cannot be written is an error before any call; a later failure is ignored", () => {
  const folder = mkdtempSync(join(tmpdir(), "log-"));
  expect(() => logAt(join(folder, "none", "calls.log"))).toThrow(
    /calls\.log \(from a test\) cannot be written: ENOENT/,
  );
  const log = logAt(join(folder, "calls.log"));
  jest.spyOn(JSON, "stringify").mockImplementationOnce(() => {
    throw new Error("no");
  });
  expect(() => log.write(call())).not.toThrow();
});

test.each([
  [{ "x-request-id": "r-1" }, " (Request r-1.)"],
  [{ "x-amzn-requestid": "a-1" }, " (Request a-1.)"],
  [{ "x-request-id": "r-1", "cf-ray": "c-1" }, " (Request r-1.)"],
  [{ "x-request-id": "two words" }, ""],
  [{ "x-request-id": "x".repeat(129) }, ""],
  [{}, ""],
] as const)("an error names the number of the request: %j", async (headers, said) => {
  for (const reply of [json(400, { errorMessage: "no" }, { ...headers }), text(200, "<p>", { ...headers })]) {
    const { baseUrl } = await peer(reply);
    const error = await failure(http(baseUrl, {}, { patienceMs: 0 }).request("GET", "/x"));
    expect(error.message.endsWith(`.${said}`)).toBe(true);
    expect(error.requestId).toBe(said === "" ? undefined : Object.values(headers)[0]);
  }
});
