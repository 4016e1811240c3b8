import { Consortium, Environment, Node } from "../../../sdk";
import { type RunOptions } from "../../support/double/deployment";
import { type Program } from "../../support/double/stack";
import { type Base, ledger, onBothAdapters } from "../../support/stacks";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";

/* A stack deletes a consortium or an environment with objects that it does not manage. */

const quorum = { provider: "quorum", consensusType: "raft" } as const;
const environments = "/consortia/:consortiumId/environments";
const inside = `${environments}/:environmentId`;
const confirmed = (id: unknown) => newProcess({ CONSORTIUM_CONFIRM_DELETED: String(id) });

/** From here on, nobody has seen an answer to a create. */
function forgetAnswers(): void {
  const home = join(process.env.XDG_STATE_HOME!, "pulumi-consortium", "creates");
  for (const name of readdirSync(home, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".jsonl"))) {
    const lines = readFileSync(join(home, name), "utf8").split("\n");
    writeFileSync(join(home, name), lines.filter((line) => !line.startsWith('{"made"')).join("\n"));
  }
}

onBothAdapters((make) => {
  const node = ({ membership, environment }: Base, name = "n", opts = {}) =>
    new Node(name, { environment, membership }, opts);
  const whole = ledger((base) => node(base));

  /** The stack of this program, whose state has then lost these. */
  async function lost(program: Program, ...names: string[]) {
    const made = await make(program);
    const ids = Object.fromEntries(made.stack.state.map(({ name, id }) => [name, String(id)]));
    made.forget(...names);
    newProcess();
    return { ...made, ids };
  }

  test("a consortium with somebody else's environment stays, and the error lists that with its nodes; a confirmation deletes it", async () => {
    const two: Program = ledger((base) => {
      const { consortium } = base;
      node({ ...base, environment: new Environment("other", { consortium, ...quorum }) });
    });
    const { stack, service, ids, writes } = await lost(two, "m", "n", "other");
    const { failure } = await stack.destroy();
    const deletion = "DELETE /consortia/:consortiumId";
    const list = `environment "other" (${ids.other}) with node "n" (${ids.n})`;
    expect(failure).toMatch(`consortium "c" (${ids.c}): leave the consortium to others`);
    expect(failure).toContain(list);
    expect(failure).toContain(`CONSORTIUM_CONFIRM_DELETED=${ids.c}`);
    expect(writes()).not.toContain(deletion);
    expect(service.store.nodes.list()).toHaveLength(1);
    confirmed(ids.c);
    const again = await stack.destroy();
    expect(writes()).toContain(deletion);
    expect(again.lines).toContainEqual(expect.stringContaining(list) as string);
  });

  test.each<[string, (ids: Record<string, string>) => string | undefined]>([
    ["the environment", ({ e }) => e],
    ["its consortium", ({ c }) => c],
  ])("an environment with somebody else's node stays until %s is confirmed", async (_, confirmation) => {
    const { stack, service, ids } = await lost(whole, "n", "m");
    expect((await stack.destroy()).failure).toContain(`environment "e" (${ids.e}): leave the environment to others`);
    expect(service.store.nodes.list()).toHaveLength(1);
    confirmed(confirmation(ids));
    await stack.destroy();
    expect(service.store.nodes.list()).toEqual([]);
  });

  test("with deletedWith, its contents are deleted with it: Pulumi announces no deletion of these", async () => {
    const together = ledger((base) => node(base, "n", { deletedWith: base.environment }));
    const { stack, service } = await lost(together);
    expect((await stack.destroy()).failure).toBe("");
    expect(service.store.consortia.list()).toEqual([]);
  });

  test.each([
    [true, ""],
    [false, "[not-empty:"],
  ])(
    "where the program does not tell of deletedWith, its contents are the stack's own if a refresh (%s) has shown them",
    async (refresh, refusal) => {
      const { stack, service, writes } = await make(whole);
      const { urn } = stack.of("e");
      stack.state = stack.state.map((one) => (one.name === "n" ? { ...one, deletedWith: urn } : one));
      newProcess();
      const { failure } = await stack.up(() => new Consortium("c"), { refresh });
      expect(failure.match(/\[not-empty:/)?.[0] ?? failure).toBe(refusal);
      expect(service.store.nodes.list()).toHaveLength(refusal === "" ? 0 : 1);
      expect(writes()).not.toContain(`DELETE ${inside}/nodes/:nodeId`);
    },
  );

  test.each<["e" | "c", (base: Base) => unknown]>([
    ["e", (base) => node(base, "n", { deletedWith: base.environment })],
    ["c", ({ consortium }) => new Environment("n", { consortium, ...quorum }, { deletedWith: consortium })],
  ])("with deletedWith, %s stays if another organization has something in it", async (name, inside) => {
    const { stack, service, ids } = await lost(ledger(inside));
    const at = `/consortia/${ids.c}`;
    const { _id: member } = await send<{ _id: string }>(service, "POST", `${at}/memberships`, { org_name: "other" });
    const theirs = { name: "theirs", membership_id: member };
    const { _id: their } = await send<{ _id: string }>(service, "POST", `${at}/environments/${ids.e}/nodes`, theirs);
    service.store.memberships.patch(member, { org_id: "another" });
    stack.state = stack.state.filter((one) => one.name !== (name === "c" ? "e" : ""));
    newProcess();
    const { failure } = await stack.destroy();
    expect(failure).toContain(`"${name}" (${ids[name]}): leave the `);
    expect(failure).toContain(`node "theirs" (${their}).`);
    confirmed(ids[name]);
    expect((await stack.destroy()).failure).not.toContain("is not deleted, because");
  });

  test.each<[string, RunOptions]>([
    ["", {}],
    ["of Pulumi 3.220", { release: "oldest" }],
  ])(
    "with deletedWith, the engine %s replaces an environment and its node: the new ones come first",
    async (_, how) => {
      const together = (consensusType: string) =>
        ledger((base) => node(base, "n", { deletedWith: base.environment }), { consensusType });
      const { stack, service, writes } = await make(together("ibft"));
      expect(await stack.up(together("raft"), how)).toMatchObject({ errors: [] });
      const nodes = [`POST ${inside}/nodes`, `DELETE ${inside}/nodes/:nodeId`];
      expect(writes()).toEqual([`POST ${environments}`, ...nodes, `DELETE ${inside}`]);
      expect(service.store.nodes.list()).toHaveLength(1);
    },
  );

  test("deletedWith counts from the update that adds it, and only as long as the program has it", async () => {
    const { stack, service } = await lost(whole);
    const together = ledger((base) => node(base, "n", { deletedWith: base.environment }));
    expect((await stack.up(together)).errors).toEqual([]);
    newProcess();
    expect((await stack.up(together)).changes).toEqual([]);
    expect((await stack.up(whole)).errors).toEqual([]);
    stack.state = stack.state.filter(({ name }) => name !== "n");
    newProcess();
    expect((await stack.destroy()).failure).toContain("[not-empty:");
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  test.each([
    ["that a killed run made goes with it", true, false],
    ["goes with it where nobody saw the answer", false, false],
    ["of the same name, which is not the one that a killed run made, holds it", true, true],
  ])("a node %s", async (_, answered, other) => {
    const { stack, service, forget } = await make();
    expect((await stack.up(whole, { killed: true })).errors).toEqual([]);
    const { nodes } = service.store;
    const [own] = nodes.list();
    const at = `/consortia/${stack.of("c").id}/environments/${stack.of("e").id}/nodes`;
    if (other) {
      nodes.remove(own!.id);
      await send(service, "POST", at, { name: "n", membership_id: stack.of("m").id });
    }
    if (!answered) forgetAnswers();
    forget("n", "m");
    newProcess();
    const { failure } = await stack.up(() => new Consortium("c"));
    expect([failure.includes("[not-empty:"), nodes.list().length]).toEqual([other, other ? 1 : 0]);
  });

  test("nodes of the service itself, which belong to no member, do not keep an environment", async () => {
    const { stack, service, writes, forget } = await lost(whole);
    const [own] = service.store.nodes.list();
    Object.assign(own!.fields, { membership_id: "sys-monitor" });
    forget("n");
    await stack.destroy();
    expect(writes()).toContain("DELETE /consortia/:consortiumId/environments/:environmentId");
  });
});
