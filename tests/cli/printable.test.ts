import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";
import { jsonOf, junitOf, listOf } from "../../cli/check";
import { metricsOf } from "../../cli/check/metrics";
import { render } from "../../cli/report";
import { shownJson } from "../../console/server/app";
import { Progress } from "../../fleet/progress";
import { notBegun } from "../../fleet/results";
import { readSecrets } from "../../fleet/secrets";
import { readPlan } from "../../inventory/plan/read";
import { type Result } from "../../observe/check/checks";
import { mapOf } from "../../observe/map/graph";
import { mermaidOf } from "../../observe/map/mermaid";
import { svgOf } from "../../observe/map/svg";
import { modelOfPlan } from "../../inventory/plan/changes";
import { ApiError } from "../../provider/api";
import { nameOf } from "../../provider/core/definition";
import { definitions } from "../../provider/resources";
import { type Service, startService } from "../../service/index";
import { temporary, writeIn } from "../fleet/made";
import { inData, inText } from "../sdk/network/problems";
import { built, serve } from "../service/child";
import { send } from "../support/network";
import { connection, consortium } from "./command";
import { planned, step } from "./plans";

/** Text from a service or a file must not move the terminal's cursor, change colors or fake a line. */

beforeAll(built);

const evil = "gone\u001b[2J\r\nfake \u009b31mred\u202edloG\u2028end";
const shown = "gone\\u001b[2J\\r\\nfake \\u009b31mred\\u202edloG\\u2028end";
// eslint-disable-next-line no-control-regex -- what must not come out
const raw = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

function expectShown(text: string, wanted = shown): void {
  expect(text).toContain(wanted);
  expect(text).not.toMatch(raw);
  expect(text).not.toMatch(/^fake/m);
}

describe("names in a service", () => {
  let service: Service;
  beforeEach(async () => {
    const timing = { environmentStart: 0, nodeStart: 0 };
    service = await startService({ timing, clock: () => Date.now() - 3_600_000 });
    const made = async (path: string, body: object) => (await send(service, "POST", path, body))._id;
    const within = `/consortia/${await made("/consortia", { name: evil, description: evil })}`;
    const member = await made(`${within}/memberships`, { org_name: evil });
    const environment = await made(`${within}/environments`, { name: evil, provider: "geth", consensus_type: "poa" });
    await made(`${within}/environments/${environment}/nodes`, { name: evil, membership_id: member });
  });
  afterEach(() => service.close());

  const run = (...args: string[]) => consortium(args, connection(service));
  const sweep = (...args: string[]) => run("sweep", "--prefix", "gone", "--older-than", "1s", ...args);

  test("sweep: the list, the results and the JSON", async () => {
    const listed = await sweep();
    expectShown(listed.stdout, `environment "${shown}" (`);
    service.faults.add({ kind: "status", method: "DELETE", status: 403, errorMessage: evil, times: Infinity });
    const swept = await sweep("--yes");
    expectShown(swept.stderr, `HTTP 403: ${shown})`);
    expectShown(swept.stderr, `not deleted: environment "${shown}"`);
    const json = await sweep("--json");
    expectShown(json.stdout);
    const { found } = JSON.parse(json.stdout) as { found: object[] };
    expect(found).toContainEqual(expect.objectContaining({ name: evil }));
  });

  test("export: the file, which preserves the names, and the notes", async () => {
    const { stdout, stderr } = await run("export", "--consortium", evil);
    expectShown(stdout.replaceAll("\\e", "\\u001b"));
    expect(parse(stdout)).toMatchObject({ consortium: { name: evil, description: evil } });
    expect(stderr).not.toMatch(raw);
    const missing = await run("export", "--consortium", "gone");
    expectShown(missing.stderr);
  });

  test("the log of serve", async () => {
    const { child, ended, lines } = await serve(["--log", "--api-key", "k"]);
    const { port } = new URL(/(http\S+)/.exec(lines[0]!)![1]!);
    const socket = connect(Number(port), "127.0.0.1").setEncoding("latin1");
    const answered = once(socket, "data");
    socket.write(Buffer.from("GET /api/v1/ HTTP/1.1\r\nHost: \u009b2J\r\nConnection: close\r\n\r\n", "latin1"));
    await answered;
    child.kill("SIGTERM");
    await ended;
    expect(lines.join("\n")).toContain("incoming request");
    expect(lines.join("\n")).not.toMatch(raw);
  });
});

test("a network file, and a definition in the program", () => {
  const [text] = inText(
    `members: [a]\nenvironments: { ${JSON.stringify(evil)}: { provider: geth, consensusType: poa } }\n`,
  );
  expectShown(text!);
  expectShown(inData({ members: { [evil]: 5 } }).join("\n"));
});

test("messages of the provider", () => {
  expectShown(nameOf(definitions.node, { name: evil }), `node "${shown}"`);
  expectShown(new ApiError({ kind: "invalid", call: "POST /consortia", status: 400, errorMessage: evil }).message);
});

/* Every exit, with hostile text in every field, and no two fields alike. */

let fields = 0;
const hostile = (): string =>
  `f${++fields}z @acme/team ![p](https://x/p) a\\|b | \`c\` \`\`\`d <img src=x> --> ]]> &amp; "q" ${evil}`;
/** Plain data in which each text is replaced, except the value of the key `but`. */
function everywhere<T>(value: T, but?: string): T {
  if (typeof value === "string") return hostile() as T;
  if (Array.isArray(value)) return value.map((one: unknown) => everywhere(one, but)) as T;
  if (typeof value !== "object" || value === null) return value;
  const all = Object.entries(value as Record<string, unknown>);
  const entries = all.map(([key, one]) => [key, key === but ? one : everywhere(one, but)]);
  return Object.fromEntries(entries) as T;
}

const checked = (): Result[] =>
  [1, 2].map(() => ({
    check: "reachable",
    ...everywhere({ subject: { kind: "k", id: "i", name: "n", within: "w" }, text: "t", next: "n" }),
    outcome: "failed",
    value: 1,
  }));
const ofFleet = (): string => {
  const numbers = { created: 1, updated: 0, replaced: 0, deleted: 0, unchanged: 0, seconds: 1, recovered: false };
  const lists = { ledgers: ["l", "m"], replacements: ["r", "s"], drift: ["d", "e"], leftovers: ["x"] };
  const stacks = [1, 2].map(() => ({
    ...numbers,
    outcome: "failed",
    ...everywhere({ stack: "s", organization: "o", error: "e", ...lists }),
  }));
  return JSON.stringify({ command: "up", seconds: 1, stacks, ...everywhere({ project: "p", strays: ["s", "t"] }) });
};
const ofPlan = (type = "Node") => {
  const urnOf = () => `urn:pulumi:prod::net::other:index:${hostile()}::${hostile()}`;
  const props = () => ({ inputs: { [hostile()]: hostile() } });
  const steps = [
    ...[1, 2].map(() => ({ op: "update", urn: urnOf(), old: props(), new: props() })),
    ...[1, 2].map(() => step("delete", type, hostile(), { id: "n1", inputs: { name: hostile() } })),
  ];
  const events = [1, 2].map((sequence) => ({
    sequence,
    diagnosticEvent: { severity: "error", message: hostile() },
    policyEvent: {
      enforcementLevel: "advisory",
      resourceUrn: urnOf(),
      ...everywhere({ policyName: "p", message: "m" }),
    },
  }));
  return readPlan([planned(steps), ...events.map((one) => JSON.stringify(one))].join("\n"), hostile());
};
const ofCommand = async (command: string, flag?: string): Promise<string> => {
  const [file, out] = [writeIn(temporary(), "results.json", ofFleet()), join(temporary(), "out")];
  const isFile = flag === "--junit" || flag === "--prometheus";
  const { stdout, stderr } = await consortium([
    "fleet",
    command,
    file,
    ...(flag ? [flag] : []),
    ...(isFile ? [out] : []),
  ]);
  expect(stderr).not.toMatch(raw);
  return isFile ? readFileSync(out, "utf8") : stdout;
};

const isLines = (text: string): void => expect(text).not.toMatch(/^fake/m);
const isJson = (text: string): unknown => JSON.parse(text);
const isXml = (text: string): void => {
  const attribute = /[\w-]+="[^"<]*"/.source;
  const rest = text.replaceAll(new RegExp(`<\\?xml[^>]*\\?>|</?[\\w-]+( ${attribute})*/?>`, "g"), "");
  expect(rest).not.toMatch(/<|\]\]>/);
  expect(text).not.toContain("<img");
};
const isPrometheus = (text: string): void => {
  for (const line of text.split("\n"))
    expect(line).toMatch(/^$|^# (HELP|TYPE) \w+ .*$|^\w+(\{(\w+="([^"\\]|\\[\\"n])*",?)*\})? [\d.e+]+$/);
};
/** Names are code, so that nothing in them is a mention, a picture, HTML or a column. */
const isMarkdown = (text: string): void => {
  const withoutBlocks = text.replaceAll(/^(`{3,})\w*\n[^]*?^\1$/gm, "");
  const plain = withoutBlocks.replaceAll(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "");
  for (const part of ["@acme", "![p", "<img", "-->", "f1z"]) expect(plain).not.toContain(part);
  // As GitHub divides a row: a backslash takes the sign after it along.
  const columns = (row: string): number => row.replaceAll(/\\[^\w\s]/g, "").split("|").length;
  const tables = withoutBlocks.split("\n\n").filter((part) => part.startsWith("| "));
  expect(tables.length).toBeGreaterThan(1);
  for (const table of tables) expect(new Set(table.split("\n").map(columns)).size).toBe(1);
};

type Exit = [name: string, write: () => string | Promise<string>, isValid: (text: string) => unknown];
const approvals = { plans: new Map(), digests: new Set<string>() };
const exits: Exit[] = [
  ["a report", () => render([ofPlan(), ofPlan("Environment")], { max: 65_536, approvals }), isMarkdown],
  ["a report that is cut", () => render([ofPlan(), ofPlan("Environment")], { max: 2_000, approvals }), isMarkdown],
  ["a map", () => svgOf(mapOf(modelOfPlan(ofPlan()))), isXml],
  [
    "a map for Mermaid",
    () => mermaidOf(mapOf(modelOfPlan(ofPlan())))!,
    (text) => expect(text).not.toMatch(/[`@|]|<(?!br\/>)/),
  ],
  ["fleet merge", () => ofCommand("merge"), isLines],
  ["fleet merge --json", () => ofCommand("merge", "--json"), isJson],
  ["fleet merge --junit", () => ofCommand("merge", "--junit"), isXml],
  ["fleet status", () => ofCommand("status"), isLines],
  ["fleet status --json", () => ofCommand("status", "--json"), isJson],
  ["fleet status --junit", () => ofCommand("status", "--junit"), isXml],
  ["fleet status --prometheus", () => ofCommand("status", "--prometheus"), isPrometheus],
  ["check", () => listOf(checked()), isLines],
  ["check --json", () => jsonOf(checked()), isJson],
  ["check --junit", () => junitOf(checked()), isXml],
  ["check --metrics", () => metricsOf(checked(), 0), isPrometheus],
  [
    "the pages of the console",
    () => shownJson(everywhere({ section: "s", value: [{ name: "n" }], problem: "p" })),
    isJson,
  ],
];
test.each(exits)("%s: hostile text in every field is text, and no field hides another", async (_, write, isValid) => {
  for (const time of [1, 2]) {
    fields = (time - 1) * 1_000;
    const text = await write();
    expect(text).not.toMatch(raw);
    expect(new Set(text.match(/\bf\d+z/g)).size).toBeGreaterThan(1);
    isValid(text);
  }
});

test("the log of a fleet, and a secret for a page, which stays as it is", async () => {
  const fleet = { folder: ".", organizations: [] } as unknown as Parameters<typeof readSecrets>[0];
  const { mask } = await readSecrets(fleet, [], {});
  const result = notBegun({ name: "s", organization: { name: "o" } } as Parameters<typeof notBegun>[0]);
  const progress = new Progress(result, mask);
  const urn = `urn:pulumi:dev::p::pulumi-nodejs:dynamic/consortium:Environment::${evil}`;
  const metadata = { op: "delete", urn, type: "pulumi-nodejs:dynamic/consortium:Environment", old: { custom: true } };
  const lines = [
    ...progress.take({ resourcePreEvent: { metadata } }),
    ...progress.take({ diagnosticEvent: { severity: "error", message: evil, urn } }),
    ...[...progress.errors, ...result.ledgers],
  ];
  for (const line of lines) expect(line).not.toMatch(raw);
  expectShown(lines[0]!);
  expect(JSON.parse(shownJson({ secret: evil }))).toEqual({ secret: evil });
});
