import { AppCred, Consortium, Environment, EnvironmentZone, Membership, Node } from "../../../sdk";
import { type RunOptions } from "../../support/double/deployment";
import { type Props } from "../../support/double/wire";
import { send } from "../../support/network";
import { hostedAnswers, newProcess, setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* A whole life on a service like the hosted one, and on one with nothing but the specification. */

interface Wanted {
  release?: string;
  paused?: boolean;
  besu?: boolean;
  /** So many nodes besides. */
  many?: number;
}

const program =
  ({ release, paused, besu, many = 0 }: Wanted) =>
  (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const quorum = { consortium, provider: "quorum", consensusType: "ibft" } as const;
    const environment = new Environment("e", { ...quorum, releaseId: release, paused });
    new Node("n", { environment, membership });
    for (let index = 0; index < many; index++) new Node(`many-${index}`, { environment, membership });
    new AppCred("a", { environment, membership });
    if (!besu) return;
    const prefundedAccounts = { [`0x${"ab".repeat(20)}`]: { balance: "16" } };
    const other = new Environment("b", { consortium, provider: "pantheon", consensusType: "poa", prefundedAccounts });
    new EnvironmentZone("z", { environment: other, region: "us-east-2", cloud: "aws" });
    new Node("bn", { environment: other, membership });
  };

const manners = ["hosted", "specification"] as const;
onBothAdapters((make) => {
  describe.each(manners)("a service like the %s", (like) => {
    const isHosted = like === "hosted";
    const first: Wanted = isHosted ? { release: "quorum-0" } : {};

    /** With `first`, which is made. */
    async function made() {
      const answers = isHosted ? hostedAnswers : { extended: false };
      const world = await make(program(first), { answers, limits: { nodes: 70 } });
      const up = async (wanted: Wanted, options?: RunOptions): Promise<string[]> => {
        newProcess();
        const run = await world.stack.up(program(wanted), options);
        expect(run.errors).toEqual([]);
        return run.changes;
      };
      return { ...world, up };
    }

    test("nothing changes after the first up, refreshed or not, and one more node changes nothing else", async () => {
      const { stack, up } = await made();
      expect([await up(first), await up(first, { refresh: true })]).toEqual([[], []]);
      const { state } = stack.of("e").outputs;
      expect([state, stack.of("n").outputs.state]).toEqual([expect.not.stringMatching("initializing"), "started"]);
      expect(await up({ ...first, many: 1 })).toEqual(["create Node many-0"]);
    });

    if (isHosted) {
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
    }

    test("destroy deletes everything, and an object that is gone already is not an error", async () => {
      const { service, stack } = await made();
      service.store.nodes.remove(stack.of("n").id);
      newProcess();
      expect([await stack.refresh(), await stack.destroy()]).toMatchObject([{ errors: [] }, { errors: [] }]);
      const left = (await send(service, "GET", "/consortia")) as unknown as Props[];
      expect([stack.state, left.filter(({ state }) => !/^delete/.test(String(state)))]).toEqual([[], []]);
    });
  });
});
