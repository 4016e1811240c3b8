import { Consortium, Invitation, Membership } from "../../../sdk";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { onBothAdapters, onOneAdapter } from "../../support/stacks";

/* Invitations: changed, gone, and ended without a member. */

const program =
  (email = "ops@shipper.example") =>
  (): void =>
    void new Invitation("shipper", { consortium: new Consortium("trade"), email });

onBothAdapters((make) => {
  test("an invitation is changed in place without waiting for its state, and sent again when it is gone", async () => {
    const { stack, service, time, writes, expectChanges } = await make(program());
    const { invitations } = service.store;
    invitations.setState(stack.of("shipper").id, "pending");
    const began = time.now();
    const email = "new@shipper.example";
    await expectChanges(program(email), ["update Invitation shipper"]);
    expect(time.now() - began).toBeLessThan(30_000);
    expect(invitations.list()[0]!.fields).toMatchObject({ org_name: "shipper", email });
    invitations.remove(stack.of("shipper").id);
    writes();
    await expectChanges(program(email), ["create Invitation shipper"]);
    expect(writes()).toEqual(["POST /consortia/:consortiumId/invitations"]);
  });

  test.each(["declined", "Expired", "revoked"])(
    "one that is %s is reported, and sent again only on purpose",
    async (end) => {
      const { stack, service, expectChanges } = await make(program());
      const { invitations } = service.store;
      const { id } = stack.of("shipper");
      expect((await stack.preview(program())).said).not.toContain("nobody");
      invitations.setState(id, end);
      expect((await expectChanges(program(), [])).said).toContain(
        `invitation "shipper": is ${end}: nobody can accept it any more`,
      );
      const replaced = await stack.up(program(), { replace: ["shipper"] });
      expect([replaced.errors, stack.of("shipper").id === id]).toEqual([[], false]);
      expect((await stack.preview(program())).said).not.toContain("nobody");
      // If one stays beside it, its name is free for another.
      invitations.setState(stack.of("shipper").id, end);
      stack.state = stack.state.filter(({ name }) => name !== "shipper");
      await expectChanges(program(), ["create Invitation shipper"]);
    },
  );

  test.each([403, 409])("one that has ended counts as gone if its deletion is refused (%i)", async (status) => {
    const { stack, service, time } = await make(program());
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

onOneAdapter((make) => {
  describe("an invitation that has served its purpose", () => {
    const program =
      ({ orgName = "acme", email = "ops@acme.example" } = {}) =>
      (): void => {
        const consortium = new Consortium("c");
        new Membership("second", { consortium });
        new Invitation("i", { consortium, orgName, email });
      };
    const joined = async () => {
      const world = await make(program());
      const { service, stack } = world;
      service.store.invitations.remove(stack.of("i").id);
      await send(service, "POST", `/consortia/${stack.of("c").id}/memberships`, { org_name: "acme" });
      return world;
    };

    test.each([
      ["nothing else", {}, [], ""],
      [
        "another address",
        { email: "it@acme.example" },
        ["update Invitation i"],
        "so the change of email has no effect",
      ],
      ["the member's name, written differently", { orgName: "Acme" }, ["update Invitation i"], ""],
      ["the name of another member", { orgName: "second" }, ["update Invitation i"], ""],
    ])("is not sent again: %s", async (_, change, steps, says) => {
      const { service, expectChanges } = await joined();
      expect((await expectChanges(program(change), steps)).said).toContain(says);
      expect(service.store.invitations.list()).toEqual([]);
    });

    test("cannot invite somebody else: the error says how to do that", async () => {
      const { service, stack } = await joined();
      newProcess();
      const other = program({ orgName: "other" });
      const run = await stack.up(other, { refresh: true });
      expect(run.failure).toMatch(/--replace.*has served its purpose and is gone, so it cannot get another orgName/);
      expect((await stack.up(other, { replace: ["i"] })).errors).toEqual([]);
      expect(service.store.invitations.list()).toMatchObject([{ fields: { org_name: "other" } }]);
    });
  });
});
