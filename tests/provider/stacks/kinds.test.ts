import {
  Configuration,
  Consortium,
  ConsortiumZone,
  Destination,
  Environment,
  EnvironmentZone,
  Invitation,
  Membership,
  Node,
  Service,
} from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { secret } from "../../support/double/wire";
import { send } from "../../support/network";
import { newProcess, start } from "../../support/service";

/* Zones, configurations, services, invitations and destinations in one program, on both adapters. */

const gasPrice = "987654321";

interface Choice {
  gas?: string;
  size?: string;
  email?: string;
}

const program =
  ({ gas = gasPrice, size, email = "ops@shipper.example" }: Choice = {}) =>
  (): unknown => {
    const consortium = new Consortium("trade");
    const membership = new Membership("acme", { consortium });
    new ConsortiumZone("america", { consortium, region: "us-east-2", cloud: "aws" });
    new Invitation("shipper", { consortium, email });
    const environment = new Environment("prod", { consortium, provider: "quorum", consensusType: "raft" });
    const zone = new EnvironmentZone("ohio", { environment, region: "us-east-2", cloud: "aws" });
    const nodeConfig = new Configuration("gas", {
      environment,
      membership,
      type: "node_config",
      details: { gas_price: gas },
    });
    new Node("acme-1", { environment, membership, zone, nodeConfig });
    const details = { replicas: 2 };
    const files = new Service("files", {
      environment,
      membership,
      service: "ipfs",
      zone,
      details,
      ...(size && { size }),
    });
    const idRegistry = new Service("registry", { environment, membership, service: "idregistry" });
    const service = new Service("documents", { environment, membership, service: "documentstore" });
    const inbox = new Destination("inbox", { service, idRegistry, testCertificate: true });
    return { urls: files.urls, uri: inbox.uri };
  };

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  async function made() {
    const started = await start();
    const stack = new Stack(adapter);
    const run = await stack.up(program());
    expect(run.errors).toEqual([]);
    started.service.clearCalls();
    const writes = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));
    return { ...started, stack, run, writes };
  }

  test("resources stand for their ids; nothing changes by itself, also after a refresh; all of it goes again", async () => {
    const { stack, service, writes } = await made();
    expect(service.store.nodes.list()[0]!.fields).toMatchObject({
      zone_id: stack.of("ohio").id,
      node_config_id: stack.of("gas").id,
    });
    expect(stack.of("inbox").outputs).toMatchObject({
      serviceId: stack.of("documents").id,
      serviceType: "documentstore",
      membershipId: stack.of("acme").id,
      consortiumId: stack.of("trade").id,
      environmentId: stack.of("prod").id,
      setupComplete: true,
    });
    expect(stack.outputs).toEqual({
      urls: { http: expect.stringContaining(stack.of("files").id) as string },
      uri: expect.stringMatching(/^kld:/) as string,
    });
    expect(changes(await stack.preview(program()))).toEqual([]);
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(writes()).toEqual([]);
    newProcess();
    expect((await stack.destroy()).errors).toEqual([]);
    const { store } = service;
    const left = [store.zones, store.configurations, store.services, store.invitations, store.destinations];
    expect(left.map((one) => one.list().length)).toEqual([0, 0, 0, 0, 0]);
  });

  test("details of a configuration are secret wherever they are, and reach the service", async () => {
    const { stack, service, run } = await made();
    expect(service.store.configurations.list()[0]!.fields.details).toEqual({ gas_price: gasPrice });
    const { inputs, outputs } = stack.of("gas");
    expect([inputs.details, outputs.details]).toEqual([
      secret({ gas_price: gasPrice }),
      secret({ gas_price: gasPrice }),
    ]);
    const all = [run.lines, run.errors, await stack.preview(program({ gas: "123456789" }))];
    expect(JSON.stringify(all)).not.toContain(gasPrice);
    const changed = await stack.up(program({ gas: "123456789" }));
    expect([changed.errors, changes(changed)]).toEqual([[], ["update Configuration gas"]]);
    expect(service.store.configurations.list()[0]!.fields.details).toEqual({ gas_price: "123456789" });
    expect(JSON.stringify(changed)).not.toContain("123456789");
  });

  test("a service is changed in place by a restart, which the preview says, and what it adds to its details is no change", async () => {
    const { stack, service, writes } = await made();
    const { id } = stack.of("files");
    service.store.services.patch(id, { details: { replicas: 2, chosen: "by the service" } });
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(stack.of("files").outputs.details).toEqual({ replicas: 2, chosen: "by the service" });
    const preview = await stack.preview(program({ size: "medium" }));
    expect(changes(preview)).toEqual(["update Service files"]);
    expect(preview.lines.join("\n")).toContain('service "files": restarts, to change size');
    expect((await stack.up(program({ size: "medium" }))).errors).toEqual([]);
    const place = "/consortia/:consortiumId/environments/:environmentId/services/:serviceId";
    expect(writes()).toEqual([`PATCH ${place}`, `PUT ${place}/reset`]);
    expect(stack.of("files").outputs).toMatchObject({ size: "medium", state: "started" });
    service.store.services.patch(id, { details: { replicas: 9 } });
    expect(changes(await stack.up(program({ size: "medium" }), { refresh: true }))).toEqual(["update Service files"]);
    expect(service.store.services.get(id).fields.details).toEqual({ replicas: 2 });
  });

  test("an invitation is changed in place, and whatever its state says, nobody waits", async () => {
    const { stack, service, time } = await made();
    service.store.invitations.setState(stack.of("shipper").id, "pending");
    const began = time.now();
    const email = "new@shipper.example";
    expect(changes(await stack.up(program({ email }), { refresh: true }))).toEqual(["update Invitation shipper"]);
    expect(time.now() - began).toBeLessThan(30_000);
    expect(service.store.invitations.list()[0]!.fields).toMatchObject({ org_name: "shipper", email });
    expect(changes(await stack.up(program({ email })))).toEqual([]);
  });

  test("an invitation that is gone is sent again, but not to a business that has joined", async () => {
    const { stack, service, writes } = await made();
    const invite = "POST /consortia/:consortiumId/invitations";
    service.store.invitations.remove(stack.of("shipper").id);
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual(["create Invitation shipper"]);
    expect(writes()).toEqual([invite]);
    await send(service, "POST", `/consortia/${stack.of("trade").id}/memberships`, { org_name: "shipper" });
    service.store.invitations.remove(stack.of("shipper").id);
    newProcess();
    service.clearCalls();
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(writes()).toEqual([]);
  });
});

test.each(["dynamic", "plugin"] as const)(
  "%s: a service that does not start is kept, and gone on with",
  async (adapter) => {
    const { service } = await start({ timing: { nodeStart: 10_000_000 } });
    const { nodes, services } = service.store;
    const stack = new Stack(adapter);
    const run = await stack.up(program());
    expect(
      run.errors
        .map(({ name }) => name)
        .filter(Boolean)
        .sort(),
    ).toEqual(["acme-1", "documents", "files", "registry"]);
    const { id } = stack.of("files");
    for (const one of nodes.list()) nodes.setState(one.id, "started");
    for (const one of services.list()) services.setState(one.id, "started");
    expect((await stack.up(program())).errors).toEqual([]);
    expect(stack.of("files")).toMatchObject({ id, outputs: { state: "started" } });
    expect(services.list()).toHaveLength(3);
  },
);
