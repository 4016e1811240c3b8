import { Destination, Node, Service } from "../../../sdk";
import { newProcess } from "../../support/service";
import { ledger, type Made, onOneAdapter } from "../../support/stacks";

/* A run's own knowledge of an object, or its state's, counts for more than the service's momentary answer. */

const node = (role?: string) =>
  ledger(({ environment, membership }) => new Node("n", { environment, membership, ...(role && { role }) }));

/** From here on, such calls are refused, without a reason if `words` is missing. */
const refuse = ({ service }: Made, method: string, route: RegExp, status: number, times: number, words?: string) => {
  const answer = words === undefined ? { body: {} } : { errorMessage: words };
  return service.faults.add({ kind: "status", status, method, route, times, ...answer });
};

onOneAdapter((make) => {
  describe("an object that was created a moment ago, and is not shown yet", () => {
    const lagging = async () => {
      const world = await make(node(), { answers: { getById: false } });
      world.service.setTiming({ listLag: 3_500 });
      newProcess();
      return world;
    };

    test("does not count as gone in a refresh, even if its parent is not shown yet, either", async () => {
      const world = await lagging();
      const { stack } = world;
      const before = stack.state.length;
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
      expect((await stack.up(node())).changes).toEqual([]);
      refuse(world, "GET", /\/(nodes|memberships|environments)$/, 404, 9, "not found");
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
    });
  });

  test("destinations of a failed service are kept by a refresh, and deleted with it", async () => {
    const program = ledger(({ environment, membership }) => {
      const service = new Service("s", { environment, membership, service: "documentstore" });
      const idRegistry = new Service("r", { environment, membership, service: "idregistry" });
      new Destination("d", { service, membership, idRegistry, testCertificate: true });
    });
    const { service, stack } = await make(program);
    const { services } = service.store;
    services.setState(stack.of("s").id, "failed");
    newProcess();
    const refreshed = await stack.refresh();
    expect([refreshed.errors, stack.of("d").id]).toEqual([[], "d"]);
    expect(refreshed.said).toMatch(/destination "d".* is kept as it was, because it cannot be read: .*GET/);
    expect((await stack.up(program, { replace: ["s"] })).failure).toMatch(/\[name-taken:/);
    const gone = await stack.destroy();
    expect([gone.errors, stack.state, services.list()]).toEqual([[], [], []]);
  });
});
