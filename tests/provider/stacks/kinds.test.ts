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
import { newProcess } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* Zones, configurations, services, invitations and destinations in one program, on both adapters. */

const gasPrice = "987654321";

const program =
  ({ gas = gasPrice, email = "ops@shipper.example" } = {}) =>
  (): unknown => {
    const consortium = new Consortium("trade");
    const membership = new Membership("acme", { consortium });
    new ConsortiumZone("america", { consortium, region: "us-east-2", cloud: "aws" });
    new Invitation("shipper", { consortium, email });
    const environment = new Environment("prod", { consortium, provider: "quorum", consensusType: "raft" });
    const zone = new EnvironmentZone("ohio", { environment, region: "us-east-2", cloud: "aws" });
    const common = { environment, membership };
    const nodeConfig = new Configuration("gas", { ...common, type: "node_config", details: { gas_price: gas } });
    new Node("acme-1", { ...common, zone, nodeConfig });
    const files = new Service("files", { ...common, service: "ipfs", zone, details: { replicas: 2 } });
    const idRegistry = new Service("registry", { ...common, service: "idregistry" });
    const service = new Service("documents", { ...common, service: "documentstore" });
    const inbox = new Destination("inbox", { service, idRegistry, testCertificate: true });
    return { urls: files.urls, uri: inbox.uri };
  };

onBothAdapters((make) => {
  test("resources stand for their ids; nothing changes by itself, even after a refresh; destroy deletes everything", async () => {
    const { stack, service, writes } = await make(program());
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
    expect((await stack.preview(program())).changes).toEqual([]);
    expect((await stack.up(program(), { refresh: true })).changes).toEqual([]);
    expect(writes()).toEqual([]);
    newProcess();
    expect((await stack.destroy()).errors).toEqual([]);
    const { store } = service;
    const left = [store.zones, store.configurations, store.services, store.invitations, store.destinations];
    expect(left.map((one) => one.list().length)).toEqual([0, 0, 0, 0, 0]);
  });

  test("an invitation is changed in place without waiting for its state, and sent again when it is gone", async () => {
    const { stack, service, time, writes, expectChanges } = await make(program());
    const { invitations } = service.store;
    invitations.setState(stack.of("shipper").id, "pending");
    const began = time.now();
    const email = "new@shipper.example";
    await expectChanges(program({ email }), ["update Invitation shipper"]);
    expect(time.now() - began).toBeLessThan(30_000);
    expect(invitations.list()[0]!.fields).toMatchObject({ org_name: "shipper", email });
    invitations.remove(stack.of("shipper").id);
    writes();
    await expectChanges(program({ email }), ["create Invitation shipper"]);
    expect(writes()).toEqual(["POST /consortia/:consortiumId/invitations"]);
  });

  test.each(["declined", "Expired", "revoked"])(
    "one that is %s is reported, and sent again only on purpose",
    async (end) => {
      const invited = (): void =>
        void new Invitation("shipper", { consortium: new Consortium("trade"), email: "a@b.example" });
      const { stack, service, expectChanges } = await make(invited);
      const { invitations } = service.store;
      const { id } = stack.of("shipper");
      expect((await stack.preview(invited)).said).not.toContain("nobody");
      invitations.setState(id, end);
      expect((await expectChanges(invited, [])).said).toContain(
        `invitation "shipper": is ${end}: nobody can accept it any more`,
      );
      const replaced = await stack.up(invited, { replace: ["shipper"] });
      expect([replaced.errors, stack.of("shipper").id === id]).toEqual([[], false]);
      expect((await stack.preview(invited)).said).not.toContain("nobody");
      // If one stays beside it, its name is free for another.
      invitations.setState(stack.of("shipper").id, end);
      stack.state = stack.state.filter(({ name }) => name !== "shipper");
      await expectChanges(invited, ["create Invitation shipper"]);
    },
  );

  test.each([403, 409])("one that has ended counts as gone if its deletion is refused (%i)", async (status) => {
    const invited = (): void =>
      void new Invitation("shipper", { consortium: new Consortium("trade"), email: "a@b.example" });
    const { stack, service, time } = await make(invited);
    const refusal = { kind: "status", status, errorMessage: "no", method: "DELETE", route: /invitations/, times: 9 };
    service.faults.add(refusal as never);
    service.store.invitations.setState(stack.of("shipper").id, "revoked");
    newProcess();
    const began = time.now();
    expect((await stack.destroy()).errors).toEqual([]);
    expect(time.now() - began).toBeLessThan(5_000);
  });

  test("one that has ended leaves its name to another of the program", async () => {
    const consortium = (): Consortium => new Consortium("trade");
    const common = { orgName: "Shipper", email: "a@b.example" };
    const { stack, service, expectChanges } = await make(
      () => void new Invitation("one", { consortium: consortium(), ...common }),
    );
    service.store.invitations.setState(stack.of("one").id, "declined");
    await expectChanges(() => {
      const within = { consortium: consortium(), ...common };
      new Invitation("two", within);
      new Invitation("one", within);
    }, ["create Invitation two"]);
  });
});
