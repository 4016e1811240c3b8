import { canaryKey, type World, world } from "../support/world";

/* A whole life on a service like the hosted one, and on one with nothing but the specification, through the real CLI. */

interface Wanted {
  release?: string;
  paused?: boolean;
  besu?: boolean;
  more?: boolean;
  /** What a new value of makes a new password. */
  month?: string;
  /** So many nodes besides. */
  many?: number;
}

const program = ({ release = "", paused, besu, more, month, many = 0 }: Wanted = {}): string => `
  const { AppCred, Consortium, Environment, EnvironmentZone, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", {
    consortium,
    provider: "quorum",
    consensusType: "ibft",
    ${release === "" ? "" : `releaseId: "${release}",`}
    ${paused === undefined ? "" : `paused: ${paused},`}
  });
  new Node("n", { environment, membership });
  ${more ? `new Node("n2", { environment, membership });` : ""}
  for (let index = 0; index < ${many}; index++) new Node("many-" + index, { environment, membership });
  const credential = new AppCred("a", { environment, membership, ${month === undefined ? "" : `rotateWhenChanged: { month: "${month}" }`} });
  exports.password = credential.password;
  ${
    besu
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
`;

describe.each([
  ["dynamic", "hosted"],
  ["plugin", "hosted"],
  ["dynamic", "specification"],
  ["plugin", "specification"],
] as const)("on the %s provider, a service like the %s", (adapter, like) => {
  const isHosted = like === "hosted";
  let own: World;
  const up = async (wanted: Wanted, ...more: string[]): Promise<string> => {
    own.stack.program(program(wanted));
    const { code, text } = await own.stack.up({}, ...more);
    expect([code, text]).toEqual([0, text]);
    return text;
  };
  const first: Wanted = isHosted ? { release: "quorum-0" } : {};

  beforeAll(async () => {
    const answers = isHosted ? { like } : { extended: false };
    const limits = { nodes: 70 };
    own = await world(program(first), { plugin: adapter === "plugin", answers, limits, ledger: false });
  });
  afterAll(() => own.close());

  test("the first up makes it, and there is nothing to change after it, refreshed or not", async () => {
    await up(first);
    await up(first, "--expect-no-changes");
    await up(first, "--refresh", "--expect-no-changes");
    const { environments, nodes } = await own.network();
    expect([environments[0]!.state, nodes[0]!.state]).toEqual([expect.not.stringMatching("initializing"), "started"]);
  });

  test("one more node changes nothing else", async () => {
    const { environments } = await own.network();
    await up({ ...first, more: true });
    const now = await own.network();
    expect([now.nodes.length, now.environments[0]!._id]).toEqual([2, environments[0]!._id]);
  });

  test("a password is regenerated in place, where the service can", async () => {
    const password = async (): Promise<unknown> => (await own.stack.outputs()).password;
    const before = await password();
    const { appcreds } = await own.network();
    own.stack.program(program({ ...first, more: true, month: "may" }));
    const { code, text } = await own.stack.up();
    const after = await password();
    expect([code === 0, after !== before]).toEqual([isHosted, isHosted]);
    expect(text).toMatch(isHosted ? /a new password, because of/ : /cannot regenerate its password .*change keepers/);
    for (const one of [before, after]) expect(text).not.toContain(one);
    expect((await own.network()).appcreds.map(({ id }) => id)).toEqual(appcreds.map(({ id }) => id));
    if (isHosted) await up({ ...first, more: true, month: "may" }, "--expect-no-changes");
  });

  test("a long run asks once for a token, which nobody sees", async () => {
    own.service.clearCalls();
    const text = await up({ ...first, more: true, many: 60 });
    const { calls } = own.service;
    const asked = calls.filter(({ path }) => path === "/authtoken").map(({ status }) => status);
    expect([asked, calls.length > 120]).toEqual([[isHosted ? 200 : 404], true]);
    expect(new Set(calls.filter(({ path }) => path !== "/authtoken").map(({ status }) => status))).not.toContain(401);
    for (const seen of [text, JSON.stringify(await own.stack.resources())]) expect(seen).not.toMatch(/eyJ|authtoken/);
  });

  if (isHosted) {
    test("a Besu environment, a release and a pause change in place", async () => {
      const all = { ...first, more: true, besu: true };
      const { environments } = await own.network();
      await up(all);
      await up(all, "--expect-no-changes");
      await up({ ...all, release: "quorum-1" });
      await up({ ...all, release: "quorum-1", paused: true });
      await up({ ...all, release: "quorum-1", paused: true }, "--refresh", "--expect-no-changes");
      await up({ ...all, release: "quorum-1", paused: false });
      const now = await own.network();
      expect(now.environments.map(({ _id }) => _id)).toContain(environments[0]!._id);
      expect(now.environments.find(({ _id }) => _id === environments[0]!._id)).toMatchObject({
        release_id: "quorum-1",
      });
    });

    test("a release that the service moved by itself is no change, and there is no way back", async () => {
      const back = { ...first, more: true, besu: true };
      own.stack.program(program(back));
      const { code, text } = await own.stack.up();
      expect(code).not.toBe(0);
      expect(text).toMatch(/release quorum-0 \(0\.9\.0\) is older than quorum-1/);
    });

    test("a key of an organization that was invited changes nothing", async () => {
      const { service, stack } = own;
      const [{ _id: consortium }] = (await own.network()).consortia as [{ _id: string }];
      const { apiKey } = service.addOrganization("south");
      const answer = await fetch(`${service.baseUrl}/consortia/${consortium}/invitations`, {
        method: "POST",
        headers: { authorization: `Bearer ${canaryKey}`, "content-type": "application/json" },
        body: JSON.stringify({ org_name: "south", email: "ops@south.example" }),
      });
      const { id } = service.store.invitations.accept(((await answer.json()) as { _id: string })._id);
      const before = [await own.network(), await stack.ids()];
      stack.program(program({ ...first, more: true }));
      for (const args of [
        ["refresh", "--yes"],
        ["up", "--yes", "--refresh"],
        ["destroy", "--yes"],
      ]) {
        const refused = await stack.run(args, { CONSORTIUM_API_KEY: apiKey });
        expect(refused.code).not.toBe(0);
        expect(refused.text).toMatch(
          /was made with organization .*, but the API key .* belongs to organization .*Nothing was changed/,
        );
      }
      expect([await own.network(), await stack.ids()]).toEqual(before);
      service.store.memberships.remove(id); // a consortium with a member of others cannot be deleted
    });
  }

  test("destroy takes all of it, and what went by itself is no error", async () => {
    const { nodes } = await own.network();
    own.service.store.nodes.remove(nodes[0]!._id as string);
    await own.stack.ok(["destroy", "--yes", "--refresh", "--run-program"]);
    expect(await own.stack.resources()).toEqual([]);
    const left = await own.network();
    expect(left.consortia.filter(({ state }) => state !== "delete_pending")).toEqual([]);
  });
});
