import { Consortium, Destination, Environment, Membership, Service } from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { newProcess, start } from "../../support/service";

/* A destination's id is its name, which each service may have: one is not the other. */

const program = (stores: readonly string[]) => (): void => {
  const consortium = new Consortium("trade");
  const membership = new Membership("acme", { consortium });
  const environment = new Environment("prod", { consortium, provider: "quorum", consensusType: "raft" });
  const args = { environment, membership };
  const idRegistry = new Service("registry", { ...args, service: "idregistry" });
  for (const store of ["first", "second"]) {
    const service = new Service(store, { ...args, service: "documentstore" });
    if (stores.includes(store))
      new Destination(`${store}-inbox`, { service, idRegistry, name: "inbox", testCertificate: true });
  }
};

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));

test.each(["dynamic", "plugin"] as const)("%s: two of a name live and go for themselves", async (adapter) => {
  const { service } = await start();
  const { destinations } = service.store;
  const stack = new Stack(adapter);
  expect((await stack.up(program(["first", "second"]))).errors).toEqual([]);
  expect(destinations.list()).toHaveLength(2);
  newProcess();
  const again = await stack.up(program(["first", "second"]), { refresh: true });
  expect([changes(again), again.errors, again.lines.filter((line) => line.includes("inbox"))]).toEqual([[], [], []]);
  const one = await stack.up(program(["second"]));
  expect([changes(one), one.errors]).toEqual([["delete Destination first-inbox"], []]);
  expect(destinations.list().map(({ parent }) => parent)).toEqual([stack.of("second").id]);
});
