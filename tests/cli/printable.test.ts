import { once } from "node:events";
import { connect } from "node:net";
import { parse } from "yaml";
import { Progress } from "../../fleet/progress";
import { notBegun } from "../../fleet/results";
import { readSecrets } from "../../fleet/secrets";
import { render } from "../../cli/report";
import { readPlan } from "../../inventory/plan/read";
import { ApiError } from "../../provider/api";
import { nameOf } from "../../provider/core/definition";
import { definitions } from "../../provider/resources";
import { type Service, startService } from "../../service/index";
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

test("a report", () => {
  const text = planned(
    [step("update", "Node", evil, { id: "n1", inputs: { name: evil } }, { id: "n1", inputs: { name: "x" } })],
    { diagnostics: [{ severity: "error", message: `error: ${evil}` }] },
  );
  const report = render([readPlan(text, "file")], { max: 65_536 });
  expect(report).toContain(shown.replace("\\r\\n", " "));
  expect(report).not.toMatch(raw);
});

test("the views and results of a fleet", async () => {
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
});
