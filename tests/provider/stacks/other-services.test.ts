import { AppCred, Consortium, Environment, Membership, Node, TetherService } from "../../../sdk";
import { type ServiceOptions } from "../../../service/index";
import { type Run, Stack } from "../../support/double/stack";
import { newProcess, start } from "../../support/service";
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
const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  test.each(services)(
    "%s: other logical names with adopt, then refresh and destroy",
    async (_, answers, timing = {}) => {
      const { service } = await start({ answers, timing, tethers: [{ id: tetherId, funds: { rinkeby: ether } }] });
      const { consortia, memberships, environments, nodes, tethers } = service.store;
      const objects = (): string[] =>
        [consortia, memberships, environments, nodes].flatMap((kind) => kind.list().map(({ id }) => id));
      const stack = new Stack(adapter);
      expect(await stack.up(tree("", false))).toMatchObject({ errors: [] });
      const before = objects();
      newProcess();
      expect(await stack.up(tree("-new", true))).toMatchObject({ errors: [] });
      expect(objects()).toEqual(before);
      expect(tethers.get(tetherId).fields).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(changes(await stack.up(tree("-new", true)))).toEqual([]);
      expect(await stack.destroy()).toMatchObject({ errors: [] });
      expect([stack.state, environments.list(), consortia.list()]).toEqual([[], [], []]);
    },
  );

  test("without PATCH: a consortium stays as it is, because a replacement would destroy what is in it", async () => {
    await start({ answers: { patch: 405 } });
    const stack = new Stack(adapter);
    const described = (description: string) => (): void => void new Consortium("c", { description });
    await stack.up(described("first"));
    const { errors } = await stack.up(described("second"));
    expect(errors[0]!.message).toMatch(
      /consortium "c" \(\w+\): this service cannot change description in place .*HTTP 405.*Nothing was changed.*A replacement would destroy what is in it/s,
    );
    expect(stack.of("c").outputs.description).toBe("first");
  });

  test("without PATCH: a credential is renamed by two runs, the first of which says so", async () => {
    const { service } = await start({ answers: { patch: 405 } });
    const { credentials } = service.store;
    const stack = new Stack(adapter);
    const named = (name: string) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
      new AppCred("a", { environment, membership, name });
    };
    await stack.up(named("App"));
    const { id } = credentials.list()[0]!;
    const renamed = named("Web");
    expect(changes(await stack.preview(renamed))).toEqual(["update AppCred a"]);
    const { errors } = await stack.up(renamed);
    expect(errors).toEqual([{ name: "a", message: expect.stringMatching(/HTTP 405.*`pulumi up` again/) as string }]);
    expect(credentials.list().map((one) => one.id)).toEqual([id]);
    newProcess();
    const run = await stack.up(renamed, { refresh: true });
    expect(run.errors).toEqual([]);
    expect(changes(run)).toEqual(["create AppCred a", "delete AppCred a"]);
    expect(credentials.list()).toMatchObject([{ fields: { name: "Web" } }]);
    expect(credentials.list()[0]!.id).not.toBe(id);
    expect(changes(await stack.up(renamed))).toEqual([]);
  });

  test("without PATCH: a credential that somebody renamed stays, with a warning", async () => {
    const { service } = await start({ answers: { patch: 405 } });
    const { credentials } = service.store;
    const stack = new Stack(adapter);
    const program = (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
      new AppCred("a", { environment, membership, name: "App" });
    };
    await stack.up(program);
    const { id } = credentials.list()[0]!;
    credentials.patch(id, { name: "theirs" });
    for (let round = 0; round < 2; round++) {
      newProcess();
      const run = await stack.up(program, { refresh: true });
      expect(run.errors).toEqual([]);
      expect(run.lines.join()).toMatch(/credential "(App|theirs)".*somebody changed name in the service/);
      expect(credentials.list().map((one) => one.id)).toEqual([id]);
    }
  });
});
