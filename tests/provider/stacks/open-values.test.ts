import { EnvironmentZone, Node, Service, TetherService } from "../../../sdk";
import { type Program, Stack } from "../../support/double/stack";
import { ledger, onBothAdapters } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Values that are known and others; decisions of the service: the release of an environment, and its pauses. */

const withArgs = (args: object = {}, nodes = 0) =>
  ledger(({ environment, membership }) => {
    for (let at = 1; at <= nodes; at++) new Node(`n${at}`, { environment, membership });
  }, args);

onBothAdapters((make, adapter) => {
  describe("a value that is not known is an error of the preview, and the program can say that it is meant", () => {
    test.each([{ provider: "other:fabric2" }, { consensusType: "other:poa" }])(
      "%j is sent without the mark, and the old ledger stays if the service refuses it",
      async (args) => {
        const { stack, service } = await make(withArgs({}, 2));
        const { id } = stack.of("e");
        expect((await stack.preview(withArgs(args, 2))).errors).toEqual([]);
        expect((await stack.up(withArgs(args, 2))).failure).toMatch(/POST .*HTTP 400: .*(provider|consensus)/);
        expect(service.store.environments.list()).toMatchObject([{ id, fields: { name: "e" } }]);
        expect(service.store.nodes.list()).toHaveLength(2);
        expect((await stack.up(withArgs({}, 2))).changes).toEqual([]);
      },
    );

    test("one that the service has is made once, whether it is marked or known", async () => {
      const { stack, service } = await make(withArgs({ consensusType: "other:raft" }));
      expect(service.store.environments.list()).toMatchObject([{ fields: { consensus_type: "raft" } }]);
      expect((await stack.up(withArgs({ consensusType: "raft" }))).changes).toEqual([]);
      expect((await stack.up(withArgs({ provider: "other:quorum", consensusType: "raft" }))).changes).toEqual([]);
    });

    test.each<[string, (value: string) => Program, string, string, string]>([
      [
        "a service",
        (service) => ledger(({ environment, membership }) => new Service("x", { environment, membership, service })),
        "ipfs",
        "ipsf",
        "hdwallet",
      ],
      [
        "a zone",
        (region) => ledger(({ environment }) => new EnvironmentZone("x", { environment, region, cloud: "aws" })),
        "us-east-2",
        "us-esat-2",
        "eu-west-1",
      ],
    ])("of %s only where it would replace: a new one loses nothing", async (_, program, first, typo, next) => {
      const { stack, writes } = await make(program(first));
      const { id } = stack.of("x");
      for (const run of [await stack.preview(program(typo)), await stack.up(program(typo))])
        expect(run.failure).toMatch(/write "other:/);
      expect([writes(), stack.of("x").id]).toEqual([[], id]);
      expect(await stack.up(program(next))).toMatchObject({ errors: [] });
      expect(stack.of("x").id).not.toBe(id);
      expect((await new Stack(adapter).preview(program(typo))).errors).toEqual([]);
    });
  });

  test.each([
    ["rinkeby", /tether service "tether0001": the public network "rinkeby" was shut down in 2023/],
    ["mainnet", /^((?!network).)*$/s],
  ] as const)(
    "network %s of a tether: the preview warns where it should, and names the payment",
    async (network, warning) => {
      const { stack } = await make(undefined, { tethers: [{ id: "tether0001" }] });
      const tether = (): void => void new TetherService("t", { tetherId: "tether0001", network, intervalHours: 6 });
      const { said } = await stack.preview(tether);
      expect(said).toMatch(warning);
      expect(said).toContain(`tether service "tether0001": pays for a contract on ${network} from its account, unless`);
    },
  );

  describe("a release", () => {
    const release = (releaseId?: string) => withArgs(releaseId === undefined ? {} : { releaseId });

    test("changes in place, and is waited for", async () => {
      const { stack } = await make(release("quorum-0"));
      const { id } = stack.of("e");
      expect(await stack.up(release("quorum-1"))).toMatchObject({ errors: [], changes: ["update Environment e"] });
      expect(stack.of("e")).toMatchObject({ id, outputs: { releaseId: "quorum-1", state: "setup" } });
    });

    test("is unchanged after the service moved it by itself, or after it is removed from the program", async () => {
      const { service, stack, writes, expectChanges } = await make(release("quorum-0"));
      service.store.environments.patch(stack.of("e").id, { release_id: "quorum-1" });
      await expectChanges(release("quorum-0"), []);
      await expectChanges(release(), []);
      expect(writes()).toEqual([]);
    });

    test.each([
      ["state", "quorum-1"],
      ["service", undefined],
    ])("that is older than the one of the %s is refused before anything is changed", async (_, before) => {
      const { stack, writes } = await make(release(before));
      const { id } = stack.of("e");
      expect((await stack.up(release("quorum-0"))).failure).toMatch(
        /set releaseId: "quorum-1".*Release quorum-0 \(0\.9\.0\) is older than quorum-1 \(1\.0\.0\), .*cannot be downgraded\. Nothing was changed/,
      );
      expect([writes(), stack.of("e").id]).toEqual([[], id]);
    });

    test("that is newer than the state's, but older than the one that the service runs by now, is refused", async () => {
      const { service, stack, writes } = await make(release("quorum-0"));
      const newest = '[{"_id":"quorum-2","provider":"quorum","version":"1.1.0"},{"_id":"quorum-1"';
      rewriting({ answer: (text) => text.replace('[{"_id":"quorum-1"', newest) });
      service.store.environments.patch(stack.of("e").id, { release_id: "quorum-2" });
      for (let time = 0; time < 2; time++)
        expect((await stack.up(release("quorum-1"))).failure).toMatch(
          /Release quorum-1 \(1\.0\.0\) is older than quorum-2 \(1\.1\.0\), the release that it runs/,
        );
      expect(writes()).toEqual([]);
    });

    test.each([
      ["1.0.0", "1.0.0", true],
      ["1.0.1", "1.0.0", true],
      ["0.10.0", "1.0.0", false],
      ["0.10.0", "0.9.1", true],
      ["0.9.1", "0.10.0", false],
    ])("of the version %s instead of %s is allowed: %s", async (version, now, isAllowed) => {
      const { service, stack } = await make(release("quorum-1"));
      const shown = { "1.0.0": now, "0.9.0": version } as Record<string, string>;
      rewriting({
        answer: (text) => text.replace(/"version":"([^"]*)"/g, (_, one: string) => `"version":"${shown[one] ?? one}"`),
      });
      const { failure } = await stack.up(release("quorum-0"));
      expect(failure).toMatch(isAllowed ? /^$/ : /is older than quorum-1/);
      const { release_id } = service.store.environments.get(stack.of("e").id).fields;
      expect(release_id).toBe(isAllowed ? "quorum-0" : "quorum-1");
    });

    test.each([400, 404, 405])(
      "that the service cannot change (%i): the error says what is possible",
      async (status) => {
        const { service, stack } = await make(release("quorum-0"));
        const { id } = stack.of("e");
        service.faults.add({ method: "PATCH", kind: "status", status, errorMessage: "no", times: Infinity });
        expect((await stack.up(release("quorum-1"))).failure).toMatch(
          status === 400
            ? /HTTP 400: no\. \[request-refused:/
            : /set the old value again.*cannot change releaseId in place .*Nothing was changed/,
        );
        expect(stack.of("e").id).toBe(id);
      },
    );
  });

  describe("paused", () => {
    const program = (paused?: boolean, nodes = 1) => withArgs(paused === undefined ? {} : { paused }, nodes);
    const update = ["update Environment e"];
    const made = async (first?: boolean) => {
      const world = await make(program(first));
      const { service, stack } = world;
      const { id } = stack.of("e");
      const isPaused = (): boolean => service.store.environments.get(id).state === "paused";
      /** The steps of an update, and whether the environment is paused afterwards. */
      const up = async (paused?: boolean) => {
        const { errors, changes } = await stack.up(program(paused));
        return [...errors, changes, isPaused()];
      };
      const pause = (): unknown => service.store.environments.setState(id, "paused");
      return { ...world, id, isPaused, up, pause };
    };

    test("pauses an environment and resumes it, in place", async () => {
      const { id, stack, writes, up } = await made();
      for (const [paused, changes, isPaused] of [
        [true, update, true],
        [true, [], true],
        [false, update, false],
        [true, update, true],
        [undefined, update, false],
      ] as const) {
        expect(await up(paused)).toEqual([changes, isPaused]);
        expect(writes()).toHaveLength(changes.length);
      }
      expect(stack.of("e").id).toBe(id);
    });

    test("a new one starts running, as the preview says, and the next update pauses it", async () => {
      const { isPaused, up } = await made(true);
      expect((await new Stack(adapter).preview(program(true))).said).toContain("the next `pulumi up` pauses it");
      expect([isPaused(), await up(true), await up(true)]).toEqual([false, [update, true], [[], true]]);
    });

    test.each([
      [false, update, false],
      [undefined, [], true],
    ])("one that the service paused by itself, with %s in the program", async (paused, changes, stays) => {
      const { stack, up, pause } = await made(paused);
      pause();
      await stack.refresh();
      expect(await up(paused)).toEqual([changes, stays]);
    });

    test.each([
      ["paused by itself", undefined, undefined, true],
      ["paused by this run", undefined, true, true],
      ["resumed by this run", undefined, false, false],
      ["running", false, undefined, false],
    ])("the preview of a new node in one that is %s", async (what, before, after, warns) => {
      const { stack, pause } = await made(before);
      if (what !== "running") pause();
      await stack.refresh();
      const { said } = await stack.preview(program(after, 2));
      expect(said.includes('node "n2": its environment is paused')).toBe(warns);
    });
  });
});
