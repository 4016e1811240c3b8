import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secret as secretOutput } from "@pulumi/pulumi";
import { sendSpans } from "../../../provider/api/trace";
import * as sdk from "../../../sdk";
import { answered, kinds, linesOf, secretsIn, shownIn } from "../../support/answered";
import { revealed } from "../../support/double/wire";
import { receiver } from "../../support/receiver";
import { setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";
import { rewriting } from "../../support/virtual-time";

/* The log and the spans of a run of every kind: they contain each call with its resource, and no secret of the run. */

const canary = (): string => randomBytes(9).toString("hex");
const description = `canary-${canary()}`;
const gasPrice = "987654321";

const program =
  (note = description) =>
  (): void => {
    const consortium = new sdk.Consortium("trade", { description: secretOutput(note) });
    const membership = new sdk.Membership("acme", { consortium });
    new sdk.ConsortiumZone("america", { consortium, region: "us-east-2", cloud: "aws" });
    new sdk.Invitation("shipper", { consortium, email: "ops@shipper.example" });
    const environment = new sdk.Environment("prod", { consortium, provider: "quorum", consensusType: "raft" });
    const zone = new sdk.EnvironmentZone("ohio", { environment, region: "us-east-2", cloud: "aws" });
    const common = { environment, membership };
    const nodeConfig = new sdk.Configuration("gas", {
      ...common,
      type: "node_config",
      details: { gas_price: gasPrice },
    });
    const node = new sdk.Node("acme-1", { ...common, zone, nodeConfig });
    new sdk.AppCred("app", common);
    const idRegistry = new sdk.Service("registry", { ...common, service: "idregistry" });
    const service = new sdk.Service("documents", { ...common, service: "documentstore" });
    new sdk.Destination("inbox", { service, idRegistry, testCertificate: true });
    new sdk.TetherService("tether", { tetherId, network: "rinkeby", intervalHours: 1 }, { dependsOn: node });
  };

/** What a service may show of an account, and no client has asked for. */
const account = () => ({
  private_key: `0x${canary()}`,
  account: { privateKey: canary(), passphrase: canary(), mnemonic: `${canary()} ${canary()}` },
  client_secret: canary(),
  auth_token: canary(),
  credentials: [{ username: "u", password: canary() }],
  remark: { secret: canary() }, // of another program: no process knows it
});

/** The answer with such an account in each object. */
function withAccounts(body: string, planted: object[]): string {
  const value: unknown = body === "" ? undefined : JSON.parse(body);
  const added = (one: unknown): unknown => {
    if (typeof one !== "object" || one === null) return one;
    planted.push(account());
    return { ...one, ...planted.at(-1) };
  };
  return value === undefined ? body : JSON.stringify(Array.isArray(value) ? value.map(added) : added(value));
}

onBothAdapters((make) => {
  test("every call has a line and a span with its verb and its resource, and none has a secret of the run", async () => {
    const { stack, service } = await make(undefined, {
      tethers: [{ id: tetherId, funds: { rinkeby: ether, mainnet: ether } }],
    });
    const file = join(mkdtempSync(join(tmpdir(), "log-")), "calls.log");
    setEnvironment({ CONSORTIUM_LOG: file });
    const traces = await receiver();
    const planted: object[] = [];
    rewriting({ answer: (body) => withAccounts(body, planted) });
    const seen = answered();
    expect((await stack.up(program())).errors).toEqual([]);
    const made = [...stack.resources.values()].map(({ type }) => type.split(":").at(-1)!);
    const without = kinds.filter((kind) => !made.includes(kind));
    expect(without.map((kind) => `add a ${kind} to the program above`)).toEqual([]);
    expect((await stack.up(program(`${description}-2`), { refresh: true })).errors).toEqual([]);
    const { password, basicAuthHeader } = revealed(stack.of("app").outputs) as Record<string, string>;
    expect((await stack.destroy()).errors).toEqual([]);
    const text = readFileSync(file, "utf8");
    const lines = linesOf(text, seen);
    const calls = service.calls.map(({ method, path, status }) => `${method} ${path} ${status}`);
    expect(lines.map(({ method, path, status }) => `${method} ${path?.split("?")[0]} ${status}`).sort()).toEqual(
      calls.sort(),
    );
    const told = new Set(lines.map(({ verb, resource }) => `${verb} ${resource?.split(" ")[0]}`));
    const expected = kinds.flatMap((kind) => [`create ${kind}`, `read ${kind}`, `delete ${kind}`]);
    expect(expected.filter((one) => !told.has(one))).toEqual([]);
    expect(told).toContain("update Consortium");
    expect([...seen.secrets]).toEqual(expect.arrayContaining([service.apiKey, password, gasPrice]));
    const own = [description, basicAuthHeader!, basicAuthHeader!.split(" ")[1]!];
    const secrets = new Set([...seen.secrets, ...secretsIn(planted), ...own]);
    expect(secrets.size).toBeGreaterThan(kinds.length);
    expect(shownIn(text, secrets)).toEqual([]);
    await sendSpans();
    expect(shownIn(traces.text(), secrets)).toEqual([]);
    const spans = traces.spans();
    expect(spans.filter(({ kind }) => kind === 3)).toHaveLength(service.calls.length);
    const verbs = new Set(spans.map(({ name }) => name));
    expect(expected.filter((one) => !verbs.has(one))).toEqual([]);
  });
});
