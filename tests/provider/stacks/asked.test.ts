import { secret } from "@pulumi/pulumi";
import { EnvironmentZone, Node, Service } from "../../../sdk";
import { isSecret, revealed } from "../../support/double/wire";
import { newProcess } from "../../support/service";
import { ledger, onBothAdapters, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Requested values, answered values and completed steps are kept apart: only a change of the program is a change. */

type Body = Record<string, unknown>;

onBothAdapters((make) => {
  test("the requested value of an input that the program made secret is secret in the state, too", async () => {
    const chainId = 424_242;
    const { stack } = await make(ledger(undefined, { chainId: secret(chainId) }));
    const { outputs } = stack.of("e");
    expect(revealed(outputs)).toMatchObject({ __hidden: { asked: { chainId } }, chainId });
    const open = JSON.stringify(stack.state, (_, value: unknown) => (isSecret(value) ? "[secret]" : value));
    expect(open).not.toContain(String(chainId));
    expect(open).toContain('"__hidden":"[secret]"');
  });
});

onOneAdapter((make) => {
  test("a change that the service accepts and ignores is a warning, once", async () => {
    const program = (size: string, name: string) =>
      ledger(({ environment, membership }) => new Node("n", { environment, membership, size, name }));
    const { stack } = await make(program("Small", "n-1"));
    rewriting({
      request: (body, { method }) => {
        const sent = JSON.parse(body) as Body;
        return JSON.stringify(method === "PATCH" ? { ...sent, size: undefined } : sent);
      },
    });
    const run = await stack.up(program("Large", "n-2"));
    expect([run.errors, run.changes]).toEqual([[], ["update Node n"]]);
    expect(run.said).toMatch(/node "n-2" \(.*the service accepted another size, but still shows the old one/);
    expect(await stack.up(program("Large", "n-2"), { refresh: true })).toMatchObject({
      errors: [],
      changes: [],
      said: "",
    });
  });

  test("a zone that is removed together with its resource: the node moves, and the zone is deleted", async () => {
    const program = (isThere: boolean) =>
      ledger(({ environment, membership }) => {
        const where = { environment, region: "us-east-2", cloud: "aws" };
        new Node("n", { environment, membership, ...(isThere && { zone: new EnvironmentZone("z", where) }) });
      });
    const { service, expectChanges } = await make(program(true));
    await expectChanges(program(false), ["create Node n", "delete EnvironmentZone z", "delete Node n"]);
    expect(service.store.zones.list()).toEqual([]);
  });

  test.each([
    ["that a killed run of the stack created is the stack's own, and is deleted with it", undefined, undefined],
    ["of others that such a run adopts stays", true, "theirs"],
    ["of others that such a run takes over stays", undefined, "theirs"],
  ])("the owner of a utility service is recorded when it comes to the stack: one %s", async (_, adopt, renamed) => {
    const program = (adopt?: boolean) =>
      ledger(
        ({ environment, membership }) => new Service("ids", { environment, membership, service: "idregistry", adopt }),
      );
    const { service, stack, forget } = await make(program());
    const { services } = service.store;
    if (renamed) services.patch(stack.of("ids").id, { name: renamed });
    forget("ids");
    newProcess({ CONSORTIUM_ADOPT: "true" });
    expect((await stack.up(program(adopt))).errors).toEqual([]);
    newProcess({ CONSORTIUM_ADOPT: undefined });
    const { said } = await stack.up(ledger());
    expect(said.includes("others may share it")).toBe(renamed !== undefined);
    expect(services.list().map(({ fields }) => fields.name)).toEqual(renamed ? [renamed] : []);
  });
});
