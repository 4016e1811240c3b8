import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answered, kinds, linesOf, shownIn } from "../../support/answered";
import { receiver } from "../../support/receiver";
import { done } from "../support/stack";
import { tetherId, world } from "../support/world";

/* Log and spans of Pulumi's own processes, which Pulumi ends as it does after each run: one of each kind is made and goes again. */

const program = `
  const sdk = require("pulumi-consortium");
  const consortium = new sdk.Consortium("c");
  const membership = new sdk.Membership("m", { consortium });
  new sdk.ConsortiumZone("america", { consortium, region: "us-east-2", cloud: "aws" });
  new sdk.Invitation("i", { consortium, email: "ops@shipper.example" });
  const environment = new sdk.Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  const zone = new sdk.EnvironmentZone("ohio", { environment, region: "us-east-2", cloud: "aws" });
  const common = { environment, membership };
  const nodeConfig = new sdk.Configuration("g", { ...common, type: "node_config", details: { gas_price: "987654321" } });
  const node = new sdk.Node("n", { ...common, zone, nodeConfig });
  const cred = new sdk.AppCred("a", common);
  const idRegistry = new sdk.Service("registry", { ...common, service: "idregistry" });
  const service = new sdk.Service("documents", { ...common, service: "documentstore" });
  new sdk.Destination("inbox", { service, idRegistry, testCertificate: true });
  new sdk.TetherService("t", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: node });
  exports.header = cred.basicAuthHeader;
`;

test.each([
  ["the plugin, below the spans of Pulumi", true],
  ["the dynamic provider, below the span that the environment names", false],
])("of %s", async (_, plugin) => {
  const { stack, service } = await world(program, { language: "nodejs", plugin, release: "newest", ledger: false });
  const { origin, spans, text } = await receiver();
  const seen = answered();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const file = join(stack.folder, "pulumi.jsonl");
  const log = join(stack.folder, "calls.log");
  const env = {
    CONSORTIUM_LOG: log,
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01`,
  };
  await done(stack.up(env, "--otel-traces", `file://${file}`));

  const verbs = spans().filter(({ name }) => name.startsWith("create "));
  expect(new Set(verbs.map(({ name }) => name))).toEqual(new Set(kinds.map((kind) => `create ${kind}`)));
  const ofPulumi = readFileSync(file, "utf8");
  for (const verb of verbs) {
    expect(verb.traceId).toBe(traceId);
    if (plugin) expect(ofPulumi).toContain(verb.parentSpanId);
    else expect(verb.parentSpanId).toBe("b7ad6b7169203331");
  }
  const { header } = (await stack.outputs()) as { header: string };
  await done(stack.destroy(env));

  const logged = readFileSync(log, "utf8");
  const told = new Set(linesOf(logged, seen).map(({ verb, resource }) => `${verb} ${resource?.split(" ")[0]}`));
  const expected = kinds.flatMap((kind) => [`create ${kind}`, `delete ${kind}`]);
  expect(expected.filter((one) => !told.has(one))).toEqual([]);
  expect([...seen.secrets]).toEqual(expect.arrayContaining([service.apiKey, "987654321"]));
  const secrets = new Set([...seen.secrets, header, header.split(" ")[1]!]);
  expect(secrets.size).toBeGreaterThan(4);
  for (const shown of [logged, text()]) expect(shownIn(shown, secrets)).toEqual([]);
});
