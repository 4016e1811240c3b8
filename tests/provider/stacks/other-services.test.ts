import { AppCred, Consortium, Environment, Membership, Node, TetherService } from "../../../sdk";
import { type ServiceOptions } from "../../../service/index";
import { newProcess } from "../../support/service";
import { ledger, onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/* Other services than the one that handover.test.ts looks at: what the stack holds is handed over there, too. */

const services: [string, ServiceOptions["answers"], ServiceOptions["timing"]?][] = [
  ["nothing is read by id, and answers are empty", { getById: false, emptyBodies: true, created: 202, updated: 202 }],
  ["strict, without PATCH and a list of credentials", { strictBodies: true, patch: 405, listCredentials: 404 }],
  ["unknown fields, lists that lag, and 403 for what is gone", { unknownFields: true, gone: 403 }, { listLag: 500 }],
  [
    "slow to delete, and parents stay until their children are gone",
    { refuseChildren: true },
    { deleting: 1_500, deletedVisible: 2_000 },
  ],
  ["ids called id, 410, and a founding member", { idField: "id", gone: 410, foundingMembership: true }],
];

const tree = (suffix: string, adopt: boolean) => (): void => {
  const named = (name: string): string => name + suffix;
  const consortium = new Consortium(named("c"), { name: "Spice Route", adopt });
  const membership = new Membership(named("m"), { consortium, orgName: "Red Harbour", adopt });
  const quorum = { consortium, name: "Live", provider: "quorum", consensusType: "ibft" } as const;
  const environment = new Environment(named("e"), { ...quorum, adopt });
  new Node(named("n"), { environment, membership, name: "Node A", adopt });
  new AppCred(named("a"), { environment, membership, name: "App" });
  new TetherService(named("t"), { tetherId, network: "rinkeby", intervalHours: 2 });
};

onBothAdapters((make) => {
  test.each(services)(
    "%s: other logical names with adopt, then refresh and destroy",
    async (_, answers, timing = {}) => {
      const options = { answers, timing, tethers: [{ id: tetherId, funds: { rinkeby: ether } }] };
      const { service, stack } = await make(tree("", false), options);
      const { consortia, memberships, environments, nodes, tethers } = service.store;
      const objects = (): string[] =>
        [consortia, memberships, environments, nodes].flatMap((kind) => kind.list().map(({ id }) => id));
      const before = objects();
      newProcess();
      expect(await stack.up(tree("-new", true))).toMatchObject({ errors: [] });
      expect(objects()).toEqual(before);
      expect(tethers.get(tetherId).fields).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect((await stack.up(tree("-new", true))).changes).toEqual([]);
      expect(await stack.destroy()).toMatchObject({ errors: [] });
      expect([stack.state, environments.list(), consortia.list()]).toEqual([[], [], []]);
    },
  );

  test("without PATCH: a credential that somebody renamed stays, with a warning", async () => {
    const program = ledger(({ environment, membership }) => new AppCred("a", { environment, membership, name: "App" }));
    const { service, stack } = await make(program, { answers: { patch: 405 } });
    const { credentials } = service.store;
    const { id } = credentials.list()[0]!;
    credentials.patch(id, { name: "theirs" });
    for (let round = 0; round < 2; round++) {
      newProcess();
      const run = await stack.up(program, { refresh: true });
      expect(run.errors).toEqual([]);
      expect(run.said).toMatch(/credential "(App|theirs)".*somebody changed name in the service/);
      expect(credentials.list().map((one) => one.id)).toEqual([id]);
    }
  });
});
