import { AppCred, Consortium, Environment, EnvironmentZone, Membership, Node } from "../../../sdk";
import { type RunOptions } from "../../support/double/deployment";
import { send } from "../../support/network";
import { hostedAnswers, newProcess, setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* On a service like the hosted one: what changes in place, and the keys of others. Whole lives: reliability/oracle. */

interface Wanted {
  release?: string;
  paused?: boolean;
  besu?: boolean;
}

const program =
  ({ release, paused, besu }: Wanted) =>
  (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const quorum = { consortium, provider: "quorum", consensusType: "ibft" } as const;
    const environment = new Environment("e", { ...quorum, releaseId: release, paused });
    new Node("n", { environment, membership });
    new AppCred("a", { environment, membership });
    if (!besu) return;
    const prefundedAccounts = { [`0x${"ab".repeat(20)}`]: { balance: "16" } };
    const other = new Environment("b", { consortium, provider: "pantheon", consensusType: "poa", prefundedAccounts });
    new EnvironmentZone("z", { environment: other, region: "us-east-2", cloud: "aws" });
    new Node("bn", { environment: other, membership });
  };

onBothAdapters((make) => {
  const first: Wanted = { release: "quorum-0" };

  /** With `first`, which is made. */
  async function made() {
    const world = await make(program(first), { answers: hostedAnswers });
    const up = async (wanted: Wanted, options?: RunOptions): Promise<string[]> => {
      newProcess();
      const run = await world.stack.up(program(wanted), options);
      expect(run.errors).toEqual([]);
      return run.changes;
    };
    return { ...world, up };
  }

  test("a Besu environment, a release and a pause change in place; a downgrade is refused", async () => {
    const { service, stack, up } = await made();
    const all = { ...first, besu: true };
    const { id } = stack.of("e");
    expect((await up(all)).sort()).toEqual(["create Environment b", "create EnvironmentZone z", "create Node bn"]);
    expect(await up(all)).toEqual([]);
    const newer = { ...all, release: "quorum-1" };
    expect(await up(newer)).toEqual(["update Environment e"]);
    expect(await up({ ...newer, paused: true })).toEqual(["update Environment e"]);
    expect(await up({ ...newer, paused: true }, { refresh: true })).toEqual([]);
    expect(await up({ ...newer, paused: false })).toEqual(["update Environment e"]);
    expect(service.store.environments.get(id).fields.release_id).toBe("quorum-1");
    const back = await stack.up(program(all));
    expect(back.failure).toMatch(/Release quorum-0 \(0\.9\.0\) is older than quorum-1/);
  });

  test("a key of an organization that was invited changes nothing", async () => {
    const { service, stack } = await made();
    const { apiKey } = service.addOrganization("south");
    const { id: consortium } = stack.of("c");
    const invited = { org_name: "south", email: "ops@south.example" };
    const { _id } = await send(service, "POST", `/consortia/${consortium}/invitations`, invited);
    service.store.invitations.accept(_id);
    const now = (): unknown => [stack.state, service.store.environments.list(), service.store.nodes.list()];
    const before = structuredClone(now());
    setEnvironment({ CONSORTIUM_API_KEY: apiKey });
    for (const run of [
      () => stack.refresh(),
      () => stack.up(program(first), { refresh: true }),
      () => stack.destroy(),
    ]) {
      newProcess();
      expect((await run()).failure).toMatch(
        /was made with organization .*, but the API key .* belongs to organization .*Nothing was changed/,
      );
    }
    expect(now()).toEqual(before);
  });
});
