import { readFileSync } from "node:fs";
import { join } from "node:path";
import { receiver } from "../../support/receiver";
import { done } from "../support/stack";
import { canaryKey, world } from "../support/world";

/* Spans of Pulumi's own processes, which Pulumi ends as it does after each run. */

const program = `
  const { AppCred, Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  new Node("n", { environment, membership });
  exports.password = new AppCred("a", { environment, membership }).password;
`;

test.each([
  ["the plugin, below the spans of Pulumi", true],
  ["the dynamic provider, below the span that the environment names", false],
])("of %s", async (_, plugin) => {
  const { stack } = await world(program, { language: "nodejs", plugin, release: "newest" });
  const { origin, spans, text } = await receiver();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: origin, TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01` };
  const file = join(stack.folder, "pulumi.jsonl");
  await done(stack.up(env, "--otel-traces", `file://${file}`));

  const all = spans();
  const verbs = all.filter(({ name }) => name.startsWith("create "));
  expect(verbs.map(({ name }) => name).sort()).toEqual(
    ["AppCred", "Consortium", "Environment", "Membership", "Node"].map((kind) => `create ${kind}`),
  );
  const ofPulumi = readFileSync(file, "utf8");
  for (const verb of verbs) {
    expect(verb.traceId).toBe(traceId);
    if (plugin) expect(ofPulumi).toContain(verb.parentSpanId);
    else expect(verb.parentSpanId).toBe("b7ad6b7169203331");
  }
  const { password } = (await stack.outputs()) as { password: string };
  expect(password.length).toBeGreaterThan(8);
  for (const secret of [canaryKey, password]) expect(text()).not.toContain(secret);
});
