import { readFileSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secret as secretOutput } from "@pulumi/pulumi";
import { sendSpans } from "../../../provider/api/trace";
import * as sdk from "../../../sdk";
import { revealed } from "../../support/double/wire";
import { receiver } from "../../support/receiver";
import { setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/* The log and the spans of a run of every kind: they tell each call with its resource, and have no secret of the run. */

const description = "canary-of-the-program";
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

onBothAdapters((make) => {
  test("every call has a line and a span with its verb and its resource, and none has a secret of the run", async () => {
    const { stack, service } = await make(undefined, {
      tethers: [{ id: tetherId, funds: { rinkeby: ether, mainnet: ether } }],
    });
    const file = join(mkdtempSync(join(tmpdir(), "log-")), "calls.log");
    setEnvironment({ CONSORTIUM_LOG: file });
    const traces = await receiver();
    expect((await stack.up(program())).errors).toEqual([]);
    expect((await stack.up(program(`${description}-2`), { refresh: true })).errors).toEqual([]);
    const { password, basicAuthHeader } = revealed(stack.of("app").outputs) as Record<string, string>;
    expect((await stack.destroy()).errors).toEqual([]);
    const text = readFileSync(file, "utf8");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(lines).toHaveLength(service.calls.length);
    const told = new Set(lines.map(({ verb, resource }) => `${verb} ${resource?.split(" ")[0]}`));
    for (const kind of ["Consortium", "Membership", "Environment", "Node", "AppCred", "TetherService", "Configuration"])
      for (const verb of ["create", "delete"]) expect(told).toContain(`${verb} ${kind}`);
    expect(told).toContain("update Consortium");
    expect(told).toContain("read Consortium");
    const secrets = [service.apiKey, description, gasPrice, password!, basicAuthHeader!];
    const writings = secrets.flatMap((one) => [one, Buffer.from(one).toString("base64"), encodeURIComponent(one)]);
    expect(writings.filter((one) => text.includes(one))).toEqual([]);
    expect(text).toContain('"details":"[secret]"');
    await sendSpans();
    expect(writings.filter((one) => traces.text().includes(one))).toEqual([]);
    const spans = traces.spans();
    expect(spans.filter(({ kind }) => kind === 3)).toHaveLength(service.calls.length);
    const verbs = new Set(spans.map(({ name }) => name));
    for (const kind of ["Consortium", "Membership", "Environment", "Node", "AppCred", "TetherService", "Configuration"])
      for (const verb of ["create", "delete"]) expect(verbs).toContain(`${verb} ${kind}`);
  });
});
