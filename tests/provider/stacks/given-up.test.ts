import { Node } from "../../../sdk";
import { newProcess } from "../../support/service";
import { ledger, onBothAdapters } from "../../support/stacks";

/* A name that a resource gives up in the same run in which another one takes it. */

onBothAdapters((make) => {
  const one = ledger((base) => new Node("n", base));
  const renamed = ledger((base) => {
    new Node("b", { ...base, name: "n" });
    new Node("n", { ...base, name: "other" });
  });

  test("one step at a time, a resource that takes a name before it is free is told who gives it up, and how to go on", async () => {
    const { stack } = await make(one);
    const { failure } = await stack.up(renamed, { parallel: 1 });
    expect(failure).toMatch(/still the one of \w+, which "n" of this program gives up in this run.*Take two runs/);
    expect(failure).not.toMatch(/set adopt|adopt: true/i);
  });

  test("a name of a resource that the update removes is taken until its end, and the error says how to go on", async () => {
    const { stack, service } = await make(one);
    const other = ledger((base) => new Node("b", { ...base, name: "n" }));
    newProcess();
    const { failure } = await stack.up(other, { parallel: 1 });
    expect(failure).toMatch(/taken by \w+.*If a resource of this stack has it, .*removes that one, do that first/);
    expect((await stack.up(ledger())).errors).toEqual([]);
    expect((await stack.up(other)).errors).toEqual([]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  test("all at once, it waits until the name is free", async () => {
    const { stack } = await make(one);
    expect((await stack.up(renamed)).errors).toEqual([]);
  });
});
