import { Node, TetherService } from "../../../sdk";
import { Stack } from "../../support/double/stack";
import { ledger, onBothAdapters } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Decisions of the service: unknown clients and protocols, the release of an environment, and its pauses. */

const withArgs = (args: object = {}, nodes = 0) =>
  ledger(({ environment, membership }) => {
    for (let at = 1; at <= nodes; at++) new Node(`n${at}`, { environment, membership });
  }, args);

onBothAdapters((make, adapter) => {
  test("an unknown client is sent to the service, and the preview warns", async () => {
    const { stack } = await make();
    const shown = await stack.preview(withArgs({ provider: "quorun" }));
    expect(shown.errors).toEqual([]);
    expect(shown.said).toContain(
      'environment "e": provider "quorun" is not one of quorum, geth, pantheon (did you mean "quorum"?): the service decides whether it accepts it',
    );
    expect((await stack.up(withArgs({ provider: "quorun" }))).failure).toMatch(
      /^Environment "e": POST .*HTTP 400: .*provider/,
    );
  });

  test.each([
    [
      "rinkbey",
      /network "rinkbey" is not one of mainnet, rinkeby, local \(did you mean "rinkeby"\?\): the service decides/,
    ],
    ["sepolia", /network "sepolia" is not one of mainnet, rinkeby, local: the service decides/],
    ["rinkeby", /tether service "tether0001": the public network "rinkeby" was shut down in 2023/],
    ["mainnet", /^((?!network).)*$/s],
  ])("network %s of a tether: the preview warns where it should, and names the payment", async (network, warning) => {
    const { stack } = await make(undefined, { tethers: [{ id: "tether0001" }] });
    const tether = (): void => void new TetherService("t", { tetherId: "tether0001", network, intervalHours: 6 });
    const { said } = await stack.preview(tether);
    expect(said).toMatch(warning);
    expect(said).toContain(`tether service "tether0001": pays for a contract on ${network} from its account, unless`);
    if (network === "sepolia")
      expect((await stack.up(tether)).failure).toMatch(/POST .*targetNetwork: HTTP 400: .*network/);
  });

  test.each([
    ["quorum", "ibft"],
    ["pantheon", "poa"],
  ])("%s with %s is known: no warning", async (provider, consensusType) => {
    const { stack } = await make();
    const known = withArgs({ provider, consensusType });
    expect((await stack.preview(known)).said).not.toContain("is not one of");
    expect(await stack.up(known)).toMatchObject({ errors: [] });
  });

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
        /release quorum-0 \(0\.9\.0\) is older than quorum-1 \(1\.0\.0\), .*cannot be downgraded\. Set releaseId: "quorum-1".*Nothing was changed/,
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
          /release quorum-1 \(1\.0\.0\) is older than quorum-2 \(1\.1\.0\), the release that it runs/,
        );
      expect(writes()).toEqual([]);
    });

    test.each([
      ["1.0.0", true],
      ["1.0.1", true],
      ["0.10.0", false],
    ])("of the version %s instead of 1.0.0 is allowed: %s", async (version, isAllowed) => {
      const { service, stack } = await make(release("quorum-1"));
      rewriting({ answer: (text) => text.replace('"version":"0.9.0"', `"version":"${version}"`) });
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
            ? /the service refuses releaseId "quorum-1" .*Nothing was changed\. Set a value that the service has, or the old one/
            : /cannot change releaseId in place .*Nothing was changed.*set the old value again/i,
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
