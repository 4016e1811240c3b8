import { type ComponentResource, isSecret } from "@pulumi/pulumi";
import { Network, type NetworkDefinition, type NetworkOptions, Provider } from "../../../sdk";
import { program, valueOf } from "../../support/program";
import { written } from "./problems";
import { beside, raft, registered, short, trade, settled } from "./registered";

describe("a network", () => {
  /* The resources that a definition registers, with their names and options. */

  test("everything is a resource with a name made of keys", async () => {
    const { all, inputs } = await registered(trade);
    expect(all.map(short).sort()).toEqual(
      [
        ...[
          "Network trade",
          "Consortium trade",
          "Membership trade/acme",
          "Membership trade/globex",
          "Membership trade/silent",
        ],
        ...["Environment trade/prod", "Node trade/prod/acme-1", "Node trade/prod/acme-2", "Node trade/prod/main"],
        ...[
          "Node trade/prod/spare",
          "AppCred trade/prod/acme",
          "AppCred trade/prod/globex",
          "TetherService trade/prod",
        ],
        ...["Environment trade/test", "Node trade/test/only", "AppCred trade/test/reports"],
      ].sort(),
    );
    const inside = { environmentId: "trade/prod-id" };
    const [acme, globex] = [{ membershipId: "trade/acme-id" }, { membershipId: "trade/globex-id" }];
    expect(inputs).toMatchObject({
      "Consortium trade": { name: "Coffee trade", description: "beans" },
      "Membership trade/acme": { orgName: "acme", consortiumId: "trade-id" },
      "Membership trade/globex": { orgName: "Globex Corp" },
      "Environment trade/prod": { ...raft, name: "prod", chainId: 77 },
      "Node trade/prod/acme-2": { name: "acme-2", ...inside, ...acme },
      "Node trade/prod/spare": { name: "Spare", adopt: "n1", extra: { zone: "b" }, ...globex },
      "AppCred trade/prod/globex": { name: "globex", ...globex },
      "AppCred trade/test/reports": { name: "Reports", membershipId: "trade/silent-id" },
      "TetherService trade/prod": { tetherId: "tether0001", intervalHours: 24 },
    });
    expect(inputs["Node trade/prod/acme-1"]).not.toHaveProperty("adopt");
  });

  test("environments and nodes have the settings of the resources; nodeDefaults applies to nodes without their own", async () => {
    const settings = {
      chainId: 77,
      releaseId: "r1",
      blockPeriod: 2,
      prefundedAccounts: { "0x00000000000000000000000000000000000000aa": { balance: "5" } },
      multiRegion: true,
      testFeatures: { quick: true },
    };
    const ids = { zoneId: "z", kmsId: "k", opsmetricId: "o", backupId: "b", networkingId: "w" };
    const node = { role: "observer", size: "small", ...ids, nodeConfigId: "c", bafId: "f", databaseType: "d" };
    const nodes = { acme: 1, globex: { main: null, spare: { size: "large", kmsId: "k2" } } };
    const { inputs } = await registered({
      members: ["acme", "globex"],
      environments: { prod: { ...raft, ...settings, nodeDefaults: node, nodes }, plain: { ...raft, nodes } },
    });
    expect(inputs).toMatchObject({
      "Environment trade/prod": settings,
      "Node trade/prod/acme-1": node,
      "Node trade/prod/main": node,
      "Node trade/prod/spare": { ...node, size: "large", kmsId: "k2" },
      "Node trade/plain/spare": { size: "large", kmsId: "k2" },
    });
    expect(Object.keys(inputs["Node trade/plain/acme-1"]!).filter((key) => key in node)).toEqual([]);
    expect(Object.keys(inputs["Environment trade/plain"]!).filter((key) => key in settings)).toEqual([]);
  });

  test.each<[NetworkDefinition, string]>([
    [{ name: "commerce" }, "commerce"],
    [{}, "trade"],
    [{ consortium: "Spice" }, "Spice"],
  ])("the name of the consortium of %j", async (definition, name) => {
    const { inputs } = await registered({ ...definition, members: ["a"] });
    expect(inputs["Consortium trade"]).toMatchObject({ name });
  });

  test("the parts can be reached by their keys", async () => {
    const { network } = await registered(trade);
    expect(await valueOf(network.consortium.id)).toBe("trade-id");
    expect(await valueOf(network.members.acme!.id)).toBe("trade/acme-id");
    const { environment, nodes, credentials, tether } = network.environments.prod!;
    expect(await valueOf(environment.id)).toBe("trade/prod-id");
    expect(Object.keys(nodes)).toEqual(["acme-1", "acme-2", "main", "spare"]);
    expect(await valueOf(nodes["acme-1"]!.urls)).toEqual({ rpc: "https://n" });
    expect(await valueOf(credentials.acme!.password)).toBe("p");
    const { password } = network.outputs.trade!.environments.prod!.credentials.acme!; // as a program exports it
    expect([await valueOf(password), await isSecret(password)]).toEqual(["p", true]);
    expect(await valueOf(tether!.id)).toBe("trade/prod-id");
    expect(network.environments.test!.tether).toBeUndefined();
    expect(network.consortia.trade).toMatchObject({ consortium: network.consortium });
  });

  describe("resources beside the ledger", () => {
    test("are registered with their references, and each kind has its own names", async () => {
      const { all, named, inputs } = await registered(beside);
      expect(all.map(short)).toEqual(
        expect.arrayContaining([
          ...["ConsortiumZone trade/ohio", "Invitation trade/globex", "Invitation trade/initech"],
          ...["EnvironmentZone trade/prod/ohio", "EnvironmentZone trade/prod/bridged", "Configuration trade/prod/gas"],
          ...["Service trade/prod/ids", "Service trade/prod/docs", "Service trade/prod/ohio"],
          ...["Destination trade/prod/docs/ohio", "Destination trade/prod/docs/archive"],
          ...["Destination trade/prod/ohio/messages"],
        ]),
      );
      expect(all).toHaveLength(19);
      const inside = { environmentId: "trade/prod-id", consortiumId: "trade-id" };
      const owned = { ...inside, membershipId: "trade/acme-id" };
      const [zoneId, gas] = ["trade/prod/ohio-id", "trade/prod/gas-id"];
      expect(inputs).toMatchObject({
        "ConsortiumZone trade/ohio": { ...beside.zones.ohio, name: "ohio", consortiumId: "trade-id" },
        "Invitation trade/globex": { orgName: "globex", email: "ops@globex.example" },
        "Invitation trade/initech": { orgName: "Initech", consortiumId: "trade-id" },
        "EnvironmentZone trade/prod/ohio": { ...inside, name: "Ohio", adopt: true },
        "EnvironmentZone trade/prod/bridged": { type: "own", bridgeId: "b1" },
        "Configuration trade/prod/gas": {
          ...owned,
          name: "gas",
          type: "node_config",
          details: { secret: { gas_price: "1" } },
        },
        "Node trade/prod/one": { zoneId, nodeConfigId: gas, kmsId: gas, size: "small" },
        "Node trade/prod/two": { zoneId: "z9", kmsId: "k9", size: "small" },
        "Service trade/prod/docs": {
          ...owned,
          zoneId,
          name: "docs",
          service: "documentstore",
          size: "medium",
          details: { keep: 3 },
        },
        "Destination trade/prod/docs/ohio": {
          ...owned,
          name: "ohio",
          serviceId: "trade/prod/docs-id",
          serviceType: "documentstore",
          idRegistryId: "trade/prod/ids-id",
          testCertificate: true,
          kaleidoManaged: false,
        },
        "Destination trade/prod/ohio/messages": { serviceType: "dataexchange" },
      });
      expect(inputs["Node trade/prod/two"]).not.toHaveProperty("nodeConfigId");
      expect(named["EnvironmentZone trade/prod/ohio"]!.dependencies.join()).toContain("ConsortiumZone::trade/ohio");
      expect(named["EnvironmentZone trade/prod/bridged"]!.dependencies.join()).not.toContain("ConsortiumZone");
      expect(named["Destination trade/prod/docs/archive"]!.ignoreChanges).toEqual(["name"]);
      const keys = new Set(Object.values(inputs).flatMap((one) => Object.keys(one)));
      for (const key of ["zone", "kms", "nodeConfig", "idRegistry", "member", "destinations"])
        expect(keys).not.toContain(key);
    });

    test("are protected with their environment", async () => {
      const { named } = await registered(beside);
      const isProtected = Object.entries(named).map(([name, { protect }]) => [name, protect] as const);
      expect(Object.fromEntries(isProtected)).toMatchObject({
        "ConsortiumZone trade/ohio": false,
        "EnvironmentZone trade/prod/ohio": true,
        "EnvironmentZone trade/prod/bridged": false,
        "Service trade/prod/docs": true,
        "Destination trade/prod/docs/archive": true,
        "Configuration trade/prod/gas": true,
      });
    });

    test("can be reached by keys, with their addresses as outputs", async () => {
      const { network } = await registered(beside);
      const { prod } = network.environments;
      expect(await valueOf(network.consortia.trade!.zones.ohio!.id)).toBe("trade/ohio-id");
      expect(await valueOf(network.consortia.trade!.invitations.globex!.orgName)).toBe("globex");
      expect(await valueOf(prod!.zones.ohio!.id)).toBe("trade/prod/ohio-id");
      expect(await valueOf(prod!.configurations.gas!.id)).toBe("trade/prod/gas-id");
      const { details } = prod!.configurations.gas!;
      expect([await isSecret(details), await valueOf(details)]).toEqual([true, { gas_price: "1" }]);
      expect(await valueOf(prod!.destinations.docs!.archive!.uri)).toBe("kld://d");
      const { zones, invitations, environments } = network.outputs.trade!;
      expect(Object.keys(zones)).toEqual(["ohio"]);
      expect(await valueOf(invitations.initech!.id)).toBe("trade/initech-id");
      const { docs } = environments.prod!.services;
      expect(await valueOf(docs!.urls)).toEqual({ http: "https://s" });
      expect(Object.keys(docs!.destinations)).toEqual(["ohio", "archive"]);
      expect(await valueOf(docs!.destinations.ohio!.uri)).toBe("kld://d");
      expect(await valueOf(environments.prod!.zones.bridged!.id)).toBe("trade/prod/bridged-id");
      expect(Object.keys(environments.prod!.configurations)).toEqual(["gas"]);
    });
  });

  test("earlier names are aliases", async () => {
    const { named } = await registered({ members: { apex: { formerly: ["acme", "ace"] } } });
    const aliases = named["Membership trade/apex"]!.aliases.map((one) => (one as { name?: string }).name);
    expect(aliases).toEqual(expect.arrayContaining(["trade/acme", "trade/ace"]));
  });

  test.each([
    ["members with nodes", undefined, ["acme"]],
    ["none", [], []],
    ["none, as a mapping", {}, []],
    ["a list", ["globex"], ["globex"]],
    ["a mapping", { acme: null, reports: { member: "acme" } }, ["acme", "reports"]],
  ])("credentials: %s", async (_, credentials, names) => {
    const prod = { ...raft, nodes: { acme: 1 }, credentials };
    const { all } = await registered({ members: ["acme", "globex"], environments: { prod } });
    const made = all.filter(({ type }) => type.endsWith("AppCred")).map(({ name }) => name);
    expect(made).toEqual(names.map((name) => `trade/prod/${name}`));
  });

  describe("several consortia", () => {
    const definition: NetworkDefinition = {
      consortia: {
        trade: { members: ["acme"], environments: { prod: { ...raft, nodes: { acme: 1 } } } },
        spice: { name: "Spice", members: ["acme"], environments: { prod: { ...raft, nodes: { acme: 1 } } } },
      },
    };

    test("properties for a single consortium are errors that say where to look for several", async () => {
      const { network } = await registered(definition);
      expect(() => network.members).toThrow(
        "The network has several consortia: use consortia.trade.members (or one of spice).",
      );
      const { network: one } = await registered({ consortia: { spice: { members: ["acme"] } } });
      expect(Object.keys(one.members)).toEqual(["acme"]);
    });
  });

  describe("from a file", () => {
    const text = "members: [acme]\n";
    test("the name comes from the options, the file's text, or the file's name", async () => {
      const { of } = await program();
      const nameOf = async (network: ComponentResource) => (await of(network as never)).name;
      const file = written(text, "harbour.yaml");
      expect(await nameOf(Network.fromFile(file))).toBe("harbour");
      expect(await nameOf(Network.fromFile(file, { name: "quay" }))).toBe("quay");
      expect(await nameOf(Network.fromFile(written(`name: dock\n${text}`, "harbour.yaml")))).toBe("dock");
      expect(await nameOf(Network.fromFile(written('{ "name": "pier", "members": ["acme"] }', "n.json")))).toBe("pier");
    });

    test.each([
      ["name: dock\n", "quay"],
      ["", "quay"],
      ["name: dock\nconsortium: The Dock\n", "The Dock"],
      ["name: dock\nconsortium: { description: by the sea }\n", "quay"],
    ])("a name in the options replaces the file's, also as the consortium's name: %j", async (head, name) => {
      const { of } = await program();
      const network = Network.fromFile(written(head + text, "harbour.yaml"), { name: "quay" });
      expect((await of(network.consortium)).inputs).toMatchObject({ name });
    });

    test("a bad one registers nothing, and its error has each problem as data, too", async () => {
      const { registered: all } = await program();
      const bad = written("name: trade\nmembers: [acme]\nsize: 3\n");
      let problems: unknown;
      try {
        Network.fromFile(bad);
      } catch (error) {
        ({ problems } = error as { problems: unknown });
      }
      expect(problems).toEqual([
        {
          file: bad,
          line: 3,
          column: 1,
          path: "size",
          message: expect.stringContaining('a network has no "size"') as string,
        },
      ]);
      expect(all).toEqual([]);
    });
  });
});

describe("its options", () => {
  test("options hold for every part", async () => {
    const { all } = await registered(trade, { retainOnDelete: true, customTimeouts: { create: "5m" }, adopt: true });
    const parts = all.filter(({ type }) => type.startsWith("pulumi-nodejs:"));
    expect(parts).toHaveLength(15);
    for (const part of parts) {
      expect([part.name, part.inputs.customTimeouts, part.retainOnDelete]).toEqual([part.name, { create: 300 }, true]);
      const adopts = !/AppCred|TetherService/.test(part.type);
      const wanted = part.name.endsWith("spare") ? "n1" : true;
      expect([part.name, part.inputs.adopt]).toEqual([part.name, adopts ? wanted : undefined]);
    }
  });

  test("protect: of the network, of an environment for its contents, of an entry", async () => {
    const { all } = await registered(trade, { protect: true });
    expect(all.filter(({ protect }) => !protect).map(short)).toEqual([]);
    const [prod, test] = [trade.environments!.prod!, trade.environments!.test!];
    const mixed = {
      ...trade,
      environments: { prod: { ...prod, protect: true, nodes: { acme: { a: { protect: false }, b: null } } }, test },
    };
    const { all: some } = await registered(mixed);
    expect(
      some
        .filter(({ protect }) => protect)
        .map(short)
        .sort(),
    ).toEqual([
      ...["AppCred trade/prod/acme", "Environment trade/prod", "Node trade/prod/b", "TetherService trade/prod"],
    ]);
  });

  test.each(["provider", "providers"] as const)("%s", async (option) => {
    const { of } = await program();
    const own = new Provider("own", { apiKey: "key" });
    const network = new Network("trade", trade, option === "provider" ? { provider: own } : { providers: [own] });
    await settled(network);
    const reference = `${await valueOf(own.urn)}::${await valueOf(own.id)}`;
    const parts = [network.consortium, network.members.acme!, network.environments.prod!.tether!];
    for (const part of parts) expect((await of(part)).provider).toBe(reference);
  });

  test("adopt of the program precedes the definition's, and an entry's precedes both", async () => {
    const definition: NetworkDefinition = {
      adopt: true,
      members: { a: null, b: { adopt: false }, c: { adopt: "m1" } },
    };
    const adopted = async (opts?: NetworkOptions) => {
      const { named } = await registered(definition, opts);
      return ["a", "b", "c"].map((key) => named[`Membership trade/${key}`]!.inputs.adopt);
    };
    expect(await adopted()).toEqual([true, false, "m1"]);
    expect(await adopted({ adopt: false })).toEqual([false, false, "m1"]);
  });
});
