import { secret } from "@pulumi/pulumi";
import {
  Configuration,
  Consortium,
  ConsortiumZone,
  Destination,
  Environment,
  EnvironmentZone,
  Invitation,
  Membership,
  Node,
  Service,
} from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { isSecret, revealed } from "../../support/double/wire";
import { send } from "../../support/network";
import { newProcess, setEnvironment, start, type Started } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* What was asked, what was answered and what is done are kept apart: a change is a change of the program, and nothing else is. */

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const lines = ({ lines: all }: Run): string => all.join("\n");

type Body = Record<string, unknown>;

/** From here on, the service stores what it is sent in its own way. */
const storing = (write: (body: Body) => Body): void =>
  rewriting({ request: (body) => JSON.stringify(write(JSON.parse(body) as Body)) });

/** From here on, the service lists values in its own way, although it answers with what it was sent. */
const listing = (write: (body: Body) => Body): void =>
  rewriting({
    answer: (text, { method }) => {
      const shown = (method === "GET" ? JSON.parse(text) : undefined) as unknown;
      return Array.isArray(shown) ? JSON.stringify(shown.map((one) => write(one as Body))) : text;
    },
  });

/** Another form of a value that a program would not write. */
const inOwnForm = (body: Body): Body => ({
  ...body,
  ...(typeof body.block_period === "number" && { block_period: body.block_period + 1 }),
  ...(typeof body.size === "string" && { size: body.size.toLowerCase() }),
  ...(typeof body.cloud === "string" && { cloud: body.cloud.toLowerCase() }),
  ...(typeof body.description === "string" && { description: body.description.replace(" & ", " &amp; ") }),
  ...(body.details !== undefined && body.details !== null && { details: { ...body.details, added: true } }),
});

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  let started: Started;
  let stack: Stack;

  const writes = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));

  async function made(program: () => unknown): Promise<void> {
    started = await start();
    stack = new Stack(adapter);
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    writes();
  }

  test("what was asked of an input that the program made secret is a secret in the state, too", async () => {
    const chainId = 424_242;
    await made(() => {
      const consortium = new Consortium("c");
      new Environment("e", { consortium, provider: "quorum", consensusType: "ibft", chainId: secret(chainId) });
    });
    const { outputs } = stack.of("e");
    expect(revealed(outputs)).toMatchObject({ __hidden: { asked: { chainId } }, chainId });
    const open = JSON.stringify(stack.state, (_, value: unknown) => (isSecret(value) ? "[secret]" : value));
    expect(open).not.toContain(String(chainId));
    expect(open).toContain('"__hidden":"[secret]"');
  });

  describe.each([
    ["stores values in its own way", storing],
    ["answers with the request, and lists values in its own way", listing],
  ])("a service that %s", (_title, writing) => {
    const program =
      ({ blockPeriod = 1, size = "Small", cloud = "AWS", description = "Trade & Co" } = {}) =>
      (): void => {
        const consortium = new Consortium("c", { description });
        const membership = new Membership("m", { consortium });
        const environment = new Environment("e", {
          consortium,
          provider: "quorum",
          consensusType: "ibft",
          blockPeriod,
        });
        const where = { region: "us-east-2", cloud };
        new ConsortiumZone("cz", { consortium, ...where });
        const zone = new EnvironmentZone("ez", { environment, ...where });
        new Node("n", { environment, membership, size, zone });
        new Service("s", { environment, membership, service: "ipfs", size, details: { replicas: 2 } });
      };

    test("ten updates of one program change nothing, refreshed or not", async () => {
      started = await start();
      writing(inOwnForm);
      stack = new Stack(adapter);
      expect(await stack.up(program())).toMatchObject({ errors: [] });
      expect(stack.of("e").outputs).toMatchObject({ blockPeriod: 2 });
      writes();
      for (let round = 0; round < 10; round++) {
        newProcess();
        const run = await stack.up(program(), { refresh: round % 2 === 1 });
        expect([run.errors, changes(run)]).toEqual([[], []]);
      }
      expect(writes()).toEqual([]);
    });

    test("another value is sent, once", async () => {
      started = await start();
      writing(inOwnForm);
      stack = new Stack(adapter);
      await stack.up(program());
      const run = await stack.up(program({ size: "Large", description: "Goods" }));
      expect([run.errors, changes(run).sort()]).toEqual([
        [],
        ["update Consortium c", "update Node n", "update Service s"],
      ]);
      expect(changes(await stack.up(program({ size: "Large", description: "Goods" }), { refresh: true }))).toEqual([]);
    });

    test("a change whose restart failed is not sent again: only the restart is made up for", async () => {
      started = await start();
      writing(inOwnForm);
      stack = new Stack(adapter);
      await stack.up(program());
      const refusal = started.service.faults.add({
        kind: "status",
        status: 500,
        errorMessage: "not now",
        method: "PUT",
        route: /\/reset$/,
        times: Infinity,
      });
      const larger = (): void => program({ size: "Large" })();
      expect((await stack.up(larger)).errors[0]?.message).toMatch(/was changed, but not restarted/);
      refusal.remove();
      writes();
      newProcess();
      expect(await stack.up(larger, { refresh: true })).toMatchObject({ errors: [] });
      expect(
        writes()
          .map((call) => call.split("/").slice(-2).join("/"))
          .sort(),
      ).toEqual([":nodeId/reset", ":serviceId/reset"]);
      expect(changes(await stack.up(larger, { refresh: true }))).toEqual([]);
    });

    test("what somebody changes there is drift, and is put right, once", async () => {
      started = await start();
      writing(inOwnForm);
      stack = new Stack(adapter);
      await stack.up(program());
      const { service } = started;
      service.store.consortia.patch(stack.of("c").id, { description: "theirs" });
      service.store.services.patch(stack.of("s").id, { details: { replicas: 9, added: true } });
      const run = await stack.up(program(), { refresh: true });
      expect([run.errors, changes(run).sort()]).toEqual([[], ["update Consortium c", "update Service s"]]);
      expect(service.store.consortia.get(stack.of("c").id).fields.description).toMatch(/^Trade &(amp;)? Co$/);
      expect(service.store.services.get(stack.of("s").id).fields.details).toMatchObject({ replicas: 2 });
      expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    });

    test("drift of what only a replacement could change is a warning, and changes nothing", async () => {
      started = await start();
      writing(inOwnForm);
      stack = new Stack(adapter);
      await stack.up(program());
      const { service } = started;
      service.store.environments.patch(stack.of("e").id, {
        block_period: 7,
        release_id: "quorum-9",
        state: "paused",
      });
      service.store.zones.patch(stack.of("ez").id, { cloud: "azure" });
      const ids = stack.resources.size;
      const run = await stack.up(program(), { refresh: true });
      expect([run.errors, changes(run), stack.resources.size]).toEqual([[], [], ids]);
      expect(lines(run)).toMatch(/environment "e": somebody changed blockPeriod in the service.*--replace/);
      expect(lines(run)).toMatch(/zone "ez": somebody changed cloud in the service/);
      expect(lines(run)).not.toContain("releaseId");
    });
  });

  test("a change that the service accepts and ignores is a warning, once", async () => {
    const program = (size: string, name: string) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
      new Node("n", { environment, membership, size, name });
    };
    await made(program("Small", "n-1"));
    rewriting({
      request: (body, { method }) => {
        const sent = JSON.parse(body) as Body;
        return JSON.stringify(method === "PATCH" ? { ...sent, size: undefined } : sent);
      },
    });
    const run = await stack.up(program("Large", "n-2"));
    expect([run.errors, changes(run)]).toEqual([[], ["update Node n"]]);
    expect(lines(run)).toMatch(/node "n-2" \(.*the service accepted another size, but still shows the old one/);
    const again = await stack.up(program("Large", "n-2"), { refresh: true });
    expect([again.errors, changes(again), lines(again)]).toEqual([[], [], ""]);
  });

  describe("spellings of one value", () => {
    const account = "0x52908400098527886E0F7030069857D2E4169EE7";
    const quorum = { provider: "quorum", consensusType: "raft" } as const;
    const program = (args: object) => (): void =>
      void new Environment("e", { consortium: new Consortium("c"), ...quorum, ...args });
    const rows: [string, object, object][] = [
      ["a default that is written down", {}, { multiRegion: false }],
      [
        "an address in small letters",
        { prefundedAccounts: { [account]: { balance: "16" } } },
        { prefundedAccounts: { [account.toLowerCase()]: { balance: "16" } } },
      ],
      [
        "a balance in hexadecimal",
        { prefundedAccounts: { [account]: { balance: "16" } } },
        { prefundedAccounts: { [account]: { balance: "0x10" } } },
      ],
      ["a feature by its own name", { multiRegion: true }, { testFeatures: { multi_region: true } }],
      ["a name with space around it", { description: "d" }, { description: " d " }],
    ];
    test.each(rows.flatMap((row) => [row, [`${row[0]}, taken back`, row[2], row[1]] as (typeof rows)[number]]))(
      "%s is no change",
      async (_, before, after) => {
        await made(program(before));
        const { id } = stack.of("e");
        const run = await stack.up(program(after));
        expect([run.errors, changes(run), writes(), stack.of("e").id]).toEqual([[], [], [], id]);
        expect(changes(await stack.up(program(before), { refresh: true }))).toEqual([]);
      },
    );

    test("another value replaces", async () => {
      await made(program({ multiRegion: true }));
      expect(changes(await stack.preview(program({ multiRegion: false })))).toEqual([
        "delete Environment e",
        "create Environment e",
      ]);
    });
  });

  describe("what is taken out of the program is taken back", () => {
    const program =
      ({
        node = {},
        details,
        zone = true,
        configuration = true,
      }: {
        node?: object;
        details?: Record<string, unknown>;
        zone?: boolean;
        configuration?: boolean;
      }) =>
      (): void => {
        const consortium = new Consortium("c");
        const membership = new Membership("m", { consortium });
        const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
        const zones = zone ? [new EnvironmentZone("z", { environment, region: "us-east-2", cloud: "aws" })] : [];
        const gas = configuration ? [new Configuration("gas", { environment, membership, type: "node_config" })] : [];
        const named = { ...(gas[0] && { nodeConfig: gas[0] }), ...(zones[0] && { zone: zones[0] }) };
        new Node("n", { environment, membership, ...named, ...node });
        new Service("s", { environment, membership, service: "ipfs", ...(details && { details }) });
      };

    test("a size, and the configuration together with its resource", async () => {
      await made(program({ node: { size: "large" } }));
      const run = await stack.up(program({ configuration: false }));
      expect([run.errors, changes(run)]).toEqual([[], ["update Node n", "delete Configuration gas"]]);
      expect(started.service.store.nodes.get(stack.of("n").id).fields.node_config_id).toBeUndefined();
      expect(stack.of("n").outputs).toMatchObject({ size: "small", state: "started" });
      expect(changes(await stack.up(program({ configuration: false }), { refresh: true }))).toEqual([]);
    });

    test("a zone together with its resource: the node moves, and the zone goes", async () => {
      await made(program({}));
      const run = await stack.up(program({ zone: false }));
      expect([run.errors, changes(run).sort()]).toEqual([
        [],
        ["create Node n", "delete EnvironmentZone z", "delete Node n"],
      ]);
      expect(started.service.store.zones.list()).toEqual([]);
    });

    test.each([false, true])("a member of details, whether the service merges them or not (%s)", async (merges) => {
      await made(program({ details: { allow: ["a", "b"], debug: true } }));
      const { service } = started;
      const { id } = stack.of("s");
      const details = (): unknown => service.store.services.get(id).fields.details;
      if (merges)
        storing((body) => {
          if (typeof body.details !== "object") return body;
          const merged = Object.entries({ ...(details() as object), ...body.details });
          return { ...body, details: Object.fromEntries(merged.filter(([, value]) => value !== null)) };
        });
      const run = await stack.up(program({ details: { allow: ["a"] } }));
      expect([run.errors, changes(run)]).toEqual([[], ["update Service s"]]);
      expect(details()).toEqual({ allow: ["a"] });
      expect(changes(await stack.up(program({ details: { allow: ["a"] } }), { refresh: true }))).toEqual([]);
    });

    test("where the service refuses that, the error says what is possible, and nothing changed", async () => {
      await made(program({ node: { size: "large" } }));
      const refusal = { kind: "status", status: 400, errorMessage: "size must be a string", method: "PATCH" } as const;
      started.service.faults.add({ ...refusal, times: 1 });
      const run = await stack.up(program({}));
      expect(run.errors[0]!.message).toMatch(
        /no longer sets size.*does not choose another value.*Set the old value again/s,
      );
      expect(changes(await stack.up(program({ node: { size: "large" } })))).toEqual([]);
    });

    test("a value that only a ledger's replacement could take back stays", async () => {
      const network = (args: object) => (): void =>
        void new Environment("e", {
          consortium: new Consortium("c"),
          provider: "quorum",
          consensusType: "ibft",
          ...args,
        });
      await made(network({ chainId: 77, blockPeriod: 3 }));
      expect(changes(await stack.up(network({})))).toEqual([]);
      expect(changes(await stack.preview(network({ chainId: 78 })))).toHaveLength(2);
    });
  });

  describe("a replacement whose object others name", () => {
    const program =
      ({
        type = "node_config",
        bridgeId,
        zoneRegion = "us-east-2",
      }: { type?: string; bridgeId?: string; zoneRegion?: string } = {}) =>
      (): void => {
        const consortium = new Consortium("c");
        const membership = new Membership("m", { consortium });
        const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
        const zone = new EnvironmentZone("z", {
          environment,
          region: zoneRegion,
          cloud: "aws",
          ...(bridgeId && { bridgeId }),
        });
        const nodeConfig = new Configuration("gas", { environment, membership, type });
        new Node("n", { environment, membership, nodeConfig, zone });
      };

    test.each([
      ["a configuration", { type: "other" }, ["create Configuration gas", "update Node n", "delete Configuration gas"]],
      [
        "a zone",
        { bridgeId: "b" },
        ["create EnvironmentZone z", "create Node n", "delete EnvironmentZone z", "delete Node n"],
      ],
    ] as const)("%s is made before the old one goes", async (_, change, steps) => {
      await made(program());
      const run = await stack.up(program(change));
      expect([run.errors, changes(run).sort()]).toEqual([[], [...steps].sort()]);
      expect(started.service.store.configurations.list()).toHaveLength(1);
      expect(started.service.store.zones.list()).toHaveLength(1);
      expect(changes(await stack.up(program(change), { refresh: true }))).toEqual([]);
    });
  });

  test("what would adopt the very object that a change replaces is refused in the preview, and nothing is lost", async () => {
    const program = (adopt?: string, role?: string) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
      new Node("n", { environment, membership, ...(adopt && { adopt }), ...(role && { role }) });
    };
    await made(program());
    const { id } = stack.of("n");
    for (const run of [await stack.preview(program(id, "other")), await stack.up(program(id, "other"))])
      expect(run.errors[0]!.message).toMatch(
        new RegExp(`adopt: "${id}" would adopt the object that is deleted.*remove adopt`, "s"),
      );
    expect([writes(), stack.of("n").id]).toEqual([[], id]);
    const run = await stack.up(program(undefined, "other"));
    expect([run.errors, changes(run)]).toEqual([[], ["delete Node n", "create Node n"]]);
  });

  describe("whose it is was written down when it came", () => {
    const program = (adopt?: boolean) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
      new Service("ids", { environment, membership, service: "idregistry", adopt });
    };

    test("a utility service that a killed run of the stack made is its own, and goes with it", async () => {
      await made(program());
      stack.state = stack.state.filter(({ name }) => name !== "ids");
      newProcess();
      setEnvironment({ CONSORTIUM_ADOPT: "true" });
      expect((await stack.up(program())).errors).toEqual([]);
      setEnvironment({ CONSORTIUM_ADOPT: undefined });
      newProcess();
      await stack.destroy({ targets: ["ids"] });
      expect(started.service.store.services.list()).toEqual([]);
    });

    test.each([true, undefined])("one of others that such a run adopts stays (adopt: %s)", async (adopt) => {
      await made(program());
      const { id } = stack.of("ids");
      started.service.store.services.patch(id, { name: "theirs" });
      stack.state = stack.state.filter(({ name }) => name !== "ids");
      newProcess();
      setEnvironment({ CONSORTIUM_ADOPT: "true" });
      expect((await stack.up(program(adopt))).errors).toEqual([]);
      newProcess();
      const run = await stack.destroy({ targets: ["ids"] });
      expect(lines(run)).toContain("others may share it");
      expect(started.service.store.services.get(id).fields.name).toBe("theirs");
    });
  });

  test("another address of an invitation that was accepted is said to change nothing, and the resource stays", async () => {
    const program = (email: string) => (): void =>
      void new Invitation("i", { consortium: new Consortium("c"), orgName: "acme", email });
    await made(program("ops@acme.example"));
    const { service } = started;
    const consortium = stack.of("c").id;
    service.store.invitations.remove(stack.of("i").id);
    await send(service, "POST", `/consortia/${consortium}/memberships`, { org_name: "acme" });
    newProcess();
    const run = await stack.up(program("it@acme.example"), { refresh: true });
    expect([run.errors, changes(run)]).toEqual([[], ["update Invitation i"]]);
    expect(lines(run)).toContain("has done its work and is gone, so another email changes nothing");
    expect(service.store.invitations.list()).toEqual([]);
    expect(changes(await stack.up(program("it@acme.example"), { refresh: true }))).toEqual([]);
  });

  test("destinations of one name in two services are two, and each goes alone", async () => {
    const program = (both: boolean) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
      const idRegistry = new Service("ids", { environment, membership, service: "idregistry" });
      for (const type of both ? ["documentstore", "dataexchange"] : ["documentstore"]) {
        const service = new Service(type, { environment, membership, service: type });
        new Destination(`in-${type}`, { service, name: "inbox", idRegistry, testCertificate: true });
      }
    };
    await made(program(true));
    expect(started.service.store.destinations.list()).toHaveLength(2);
    const run = await stack.up(program(false));
    expect([run.errors, changes(run).sort()]).toEqual([
      [],
      ["delete Destination in-dataexchange", "delete Service dataexchange"],
    ]);
    expect(started.service.store.destinations.list()).toHaveLength(1);
    expect(changes(await stack.up(program(false), { refresh: true }))).toEqual([]);
  });

  test("resources that were renamed without aliases and reach a limit: the error says how to keep what is there", async () => {
    const program = (suffix: string) => (): void => {
      const consortium = new Consortium("c");
      const membership = new Membership("m", { consortium });
      const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "ibft" });
      for (const at of [1, 2, 3]) new Node(`n${at}${suffix}`, { environment, membership });
    };
    await made(program(""));
    const old = started.service.store.nodes.list().map(({ id }) => id);
    const run = await stack.up(program("-new"), { parallel: 1 });
    const { message } = run.errors[0]!;
    expect(message).toMatch(/limit.*This program does not have .*aliases: \[\{ name:/s);
    for (const id of old) expect(message).toContain(id);
  });
});
