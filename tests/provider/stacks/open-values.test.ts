import { Consortium, Environment, Membership, Node, TetherService } from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { start, type Started } from "../../support/service";

/* What the service decides: clients and protocols that are not known here, and the release that it runs. */

const lines = ({ lines: all }: Run): string => all.join("\n");

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  let started: Started;
  let stack: Stack;
  const program =
    (
      args: {
        provider?: string;
        consensusType?: string;
        releaseId?: string;
        prefundedAccounts?: object;
        paused?: boolean;
      } = {},
    ) =>
    (): void => {
      const consortium = new Consortium("c");
      const environment = new Environment<string>("e", {
        consortium,
        provider: "quorum",
        consensusType: "ibft",
        ...(args as { provider?: string }),
      });
      const membership = withNode ? new Membership("m", { consortium }) : undefined;
      if (membership) new Node("n", { environment, membership });
      if (membership && withAnother) new Node("n2", { environment, membership });
    };
  let [withNode, withAnother] = [false, false];
  beforeEach(async () => {
    started = await start({ tethers: [{ id: "tether0001" }] });
    stack = new Stack(adapter);
    [withNode, withAnother] = [false, false];
  });

  test("a client that is not known goes to the service, and the preview warns", async () => {
    const shown = await stack.preview(program({ provider: "quorun", consensusType: "ibft" }));
    expect(shown.errors).toEqual([]);
    expect(lines(shown)).toContain(
      'environment "e": provider "quorun" is not one of quorum, geth, pantheon (did you mean "quorum"?): the service decides whether it accepts it',
    );
    const { errors } = await stack.up(program({ provider: "quorun", consensusType: "ibft" }));
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/POST .*HTTP 400: .*provider/)]);
  });

  test.each([
    [
      "rinkbey",
      /network "rinkbey" is not one of mainnet, rinkeby, local \(did you mean "rinkeby"\?\): the service decides/,
    ],
    ["sepolia", /network "sepolia" is not one of mainnet, rinkeby, local: the service decides/],
    ["rinkeby", /tether service "tether0001": the public network "rinkeby" was shut down in 2023/],
    ["mainnet", undefined],
  ])("network %s of a tether: the preview warns where it should", async (network, warning) => {
    const tether = (): void => void new TetherService("t", { tetherId: "tether0001", network, intervalHours: 6 });
    const shown = lines(await stack.preview(tether));
    if (warning) expect(shown).toMatch(warning);
    else expect(shown).not.toMatch(/network/);
    if (network !== "sepolia") return;
    const [error] = (await stack.up(tether)).errors;
    expect(error!.message).toMatch(/POST .*targetNetwork: HTTP 400: .*network/);
  });

  test.each([
    ["quorum", "ibft"],
    ["pantheon", "poa"],
  ])("%s with %s is known: no warning", async (provider, consensusType) => {
    const shown = await stack.preview(program({ provider, consensusType }));
    expect(lines(shown)).not.toContain("is not one of");
    expect(await stack.up(program({ provider, consensusType }))).toMatchObject({ errors: [] });
  });

  test("prefunded accounts, with 0x and without, are the same and go out in one form", async () => {
    const account = "Ab".repeat(20);
    await stack.up(program({ prefundedAccounts: { [`0x${account}`]: { balance: "0x10" } } }));
    expect(started.service.store.environments.list()[0]!.fields).toMatchObject({
      prefunded_accounts: { [account.toLowerCase()]: { balance: "16" } },
    });
    const { steps } = await stack.up(program({ prefundedAccounts: { [account]: { balance: "16" } } }));
    expect(steps.filter((step) => !step.startsWith("same"))).toEqual([]);
  });

  describe("a release", () => {
    const changing = (calls: string[]): string[] => calls.filter((call) => !call.startsWith("GET"));
    const made = async (releaseId?: string): Promise<string> => {
      await stack.up(program(releaseId === undefined ? {} : { releaseId }));
      started.calls();
      return stack.of("e").id;
    };

    test("changes in place, and is waited for", async () => {
      const id = await made("quorum-0");
      const { steps, errors } = await stack.up(program({ releaseId: "quorum-1" }));
      expect([errors, steps]).toEqual([[], expect.arrayContaining(["update Environment e"])]);
      expect(stack.of("e")).toMatchObject({ id, outputs: { releaseId: "quorum-1", state: "setup" } });
    });

    test("that the service moved by itself is no change, nor is one that is taken out", async () => {
      const id = await made("quorum-0");
      started.service.store.environments.patch(id, { release_id: "quorum-1" });
      for (const next of [{ releaseId: "quorum-0" }, {}]) {
        await stack.refresh();
        const { steps, errors } = await stack.up(program(next));
        expect([errors, steps.filter((step) => !step.startsWith("same"))]).toEqual([[], []]);
      }
      expect(changing(started.calls())).toEqual([]);
    });

    test.each(["state", "service"])(
      "that is older than what the %s has is refused before anything is changed",
      async (who) => {
        const id = await made(who === "state" ? "quorum-1" : undefined);
        const { errors } = await stack.up(program({ releaseId: "quorum-0" }));
        expect(errors.map(({ message }) => message)).toEqual([
          expect.stringMatching(
            /release quorum-0 \(0\.9\.0\) is older than quorum-1 \(1\.0\.0\), .*cannot go back\. Set releaseId: "quorum-1".*Nothing was changed/,
          ),
        ]);
        expect(changing(started.calls())).toEqual([]);
        expect(stack.of("e").id).toBe(id);
      },
    );

    test.each([400, 404, 405])(
      "that a service does not change (%i): the error says what is possible",
      async (status) => {
        const id = await made("quorum-0");
        started.service.faults.add({ method: "PATCH", kind: "status", status, errorMessage: "no", times: Infinity });
        const { errors } = await stack.up(program({ releaseId: "quorum-1" }));
        expect(errors.map(({ message }) => message)).toEqual([
          expect.stringMatching(/cannot change releaseId in place .*Nothing was changed.*set the old value again/i),
        ]);
        expect(stack.of("e").id).toBe(id);
      },
    );
  });

  describe("paused", () => {
    beforeEach(() => {
      withNode = true;
    });
    const patches = (): number => started.calls().filter((call) => call.startsWith("PATCH")).length;
    const isPaused = (): boolean => started.service.store.environments.get(stack.of("e").id).state === "paused";
    const up = async (paused?: boolean): Promise<string[]> => {
      const { steps, errors } = await stack.up(program(paused === undefined ? {} : { paused }));
      expect(errors).toEqual([]);
      return steps.filter((step) => !step.startsWith("same"));
    };

    test("pauses an environment and resumes it, in place", async () => {
      await up();
      const { id } = stack.of("e");
      started.calls();
      expect([await up(true), isPaused(), patches()]).toEqual([["update Environment e"], true, 1]);
      expect([await up(true), patches()]).toEqual([[], 0]);
      expect([await up(false), isPaused(), patches()]).toEqual([["update Environment e"], false, 1]);
      expect([await up(true), await up(), isPaused()]).toEqual([
        ["update Environment e"],
        ["update Environment e"],
        false,
      ]);
      expect(stack.of("e").id).toBe(id);
    });

    test("a new one runs, as the preview says, and the next update pauses it", async () => {
      expect(lines(await stack.preview(program({ paused: true })))).toContain("the next `pulumi up` pauses it");
      await up(true);
      expect(isPaused()).toBe(false);
      expect([await up(true), isPaused(), await up(true)]).toEqual([["update Environment e"], true, []]);
    });

    test.each([
      [false, ["update Environment e"], false],
      [undefined, [], true],
    ] as const)("one that the service paused by itself, where the program says %s", async (paused, steps, stays) => {
      await up(paused);
      started.service.store.environments.setState(stack.of("e").id, "paused");
      await stack.refresh();
      expect([await up(paused), isPaused()]).toEqual([steps, stays]);
    });

    test.each([
      ["paused by itself", undefined, undefined, true],
      ["paused by this run", undefined, true, true],
      ["resumed by this run", undefined, false, false],
      ["running", false, undefined, false],
    ])("a preview that would put a node into one that is %s", async (what, before, after, warns) => {
      await up(before);
      if (what !== "running") started.service.store.environments.setState(stack.of("e").id, "paused");
      await stack.refresh();
      started.calls();
      withAnother = true;
      const shown = lines(await stack.preview(program(after === undefined ? {} : { paused: after })));
      expect(shown.includes('node "n2": its environment is paused')).toBe(warns);
    });
  });
});
