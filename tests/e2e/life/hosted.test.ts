import { type World, world } from "../support/world";

/* A service like the hosted one, and one with nothing but the specification: tests/provider/stacks/hosted.test.ts is the whole life. */

/** @param many so many nodes more with the changes: a long run asks for a token */
const program = (changed: boolean, isHosted: boolean, many = 0): string => `
  const { AppCred, Consortium, Environment, EnvironmentZone, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", {
    consortium,
    provider: "quorum",
    consensusType: "ibft",
    ${isHosted ? `releaseId: "quorum-${changed ? 1 : 0}",` : ""}
  });
  new Node("n", { environment, membership });
  const rotateWhenChanged = { month: "${changed && isHosted ? "may" : "april"}" };
  const credential = new AppCred("a", { environment, membership, rotateWhenChanged });
  exports.password = credential.password;
  ${
    changed && isHosted
      ? `
  const other = new Environment("b", {
    consortium,
    provider: "pantheon",
    consensusType: "poa",
    prefundedAccounts: { "0x${"ab".repeat(20)}": { balance: "16" } },
  });
  new EnvironmentZone("z", { environment: other, region: "us-east-2", cloud: "aws" });
  new Node("bn", { environment: other, membership });`
      : ""
  }
  for (let index = 0; index < ${changed ? many : 0}; index++) new Node("many-" + index, { environment, membership });
`;

describe.each([
  ["dynamic", "hosted"],
  ["plugin", "hosted"],
  ["plugin", "specification"],
] as const)("on the %s provider, a service like the %s", (adapter, like) => {
  const isHosted = like === "hosted";
  const plugin = adapter === "plugin";
  const many = plugin && isHosted ? 60 : 1;
  let own: World;
  const up = async (changed: boolean, ...more: string[]): Promise<string> => {
    own.stack.program(program(changed, isHosted, many));
    const { code, text } = await own.stack.up({}, ...more);
    expect([code, text]).toEqual([0, text]);
    return text;
  };

  beforeAll(async () => {
    const answers = isHosted ? { like } : { extended: false };
    const limits = { nodes: 70 };
    own = await world(program(false, isHosted), { plugin, inline: plugin, answers, limits, ledger: false });
  });
  afterAll(() => own.close());

  test("it is made, changes in place, is left alone by the key of another organization, and goes", async () => {
    const { service, stack } = own;
    const password = async (): Promise<unknown> => (await stack.outputs()).password;
    await up(false);
    await up(false, "--refresh", "--expect-no-changes");
    const { environments, nodes } = await own.network();
    const [environment] = environments;
    expect([environment!.state, nodes[0]!.state]).toEqual([expect.not.stringMatching("initializing"), "started"]);
    const before = await password();

    const text = await up(true);
    await up(true, "--refresh", "--expect-no-changes");
    const now = await own.network();
    const found = now.environments.find(({ _id }) => _id === environment!._id);
    const made = [nodes.length + many + (isHosted ? 1 : 0), isHosted ? "quorum-1" : environment!.release_id];
    expect([now.nodes.length, found?.release_id]).toEqual(made);
    expect([(await password()) !== before, /a new password, because rotateWhenChanged changes/.test(text)]).toEqual([
      isHosted,
      isHosted,
    ]);
    const asked = service.calls.filter(({ path }) => path === "/authtoken").map(({ status }) => status);
    if (many > 1) expect(new Set(asked)).toEqual(new Set([200]));
    const seen = [text, JSON.stringify(await stack.resources())].join("\n");
    for (const secret of [before, await password(), "eyJ", "authtoken"]) expect(seen).not.toContain(secret);

    if (isHosted) {
      const { apiKey } = service.addOrganization("south");
      const refused = await stack.run(["destroy", "--yes"], { CONSORTIUM_API_KEY: apiKey });
      expect(refused.text).toMatch(/belongs to organization .*Nothing was changed/);
      expect([refused.code === 0, await own.network()]).toEqual([false, now]);
    }

    service.store.nodes.remove(nodes[0]!._id as string);
    await stack.ok(["destroy", "--yes", "--refresh", "--run-program"]);
    expect(await stack.resources()).toEqual([]);
    const left = await own.network();
    expect(left.consortia.filter(({ state }) => state !== "delete_pending")).toEqual([]);
  });
});
