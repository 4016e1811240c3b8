import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type Definition, type Props } from "../../../provider/core/definition";
import { keeper, take } from "../../../provider/core/lifecycle/handover";
import { newSession, type Session } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { base } from "../../support/by-kind";

/* One object, several resources: who gets it, and why it stays although its resource is deleted. */

type Kind = "node" | "environment" | "appCred" | "consortium";
const paths: Record<Kind, string> = {
  node: "/consortia/c/environments/e/nodes/x",
  appCred: "/consortia/c/environments/e/appcreds/x",
  environment: "/consortia/c/environments/e",
  consortium: "/consortia/c",
};
const resource = (name: string) => ({ key: name, name });

interface Other {
  kind: Kind;
  name?: string;
  inputs?: Props;
  /** What has become of it. Default: it is new, and asks for its object. */
  is?: "failed" | "holds" | "took";
}

function run(others: Other[], { adoptAll = false, listed = [] as Identified[] } = {}): Session {
  const client = { list: () => Promise.resolve(listed) } as unknown as ConsortiumClient;
  const session = newSession(client, { resource: resource("me"), adoptAll });
  const { leases } = session.run;
  for (const { kind, name = "other", inputs = {}, is } of others) {
    const definition: Definition = definitions[kind];
    const args = { ...base[kind], ...inputs };
    if (is === "holds") leases.hold(resource(name), definition, { path: paths[kind], id: "x" }, args, args, false);
    else leases.declare(resource(name), definition, true, args);
    if (is === "took") leases.take(resource(name), definition, args, paths[kind]);
    if (is === "failed") leases.failed(resource(name));
  }
  return session;
}

describe("an object that a new resource asks for", () => {
  test("is its own then", () => {
    const session = run([]);
    expect(take(session, definitions.node, base.node, "x")).toBeUndefined();
    expect(session.run.leases.holder(paths.node)?.resource.name).toBe("me");
  });

  test("comes with its state, if another resource has released it", () => {
    const session = run([]);
    session.run.leases.release(paths.node, { name: "before" });
    expect(take(session, definitions.node, base.node, "x")).toEqual({ name: "before" });
  });

  test.each<[string, Other[], boolean]>([
    ["is not, if another one keeps it", [{ kind: "node", is: "holds" }], true],
    ["is not, if another one took it", [{ kind: "node", is: "took" }], true],
    ["is, if it has it itself", [{ kind: "node", name: "me", is: "holds" }], false],
  ])("%s", (_, others, refused) => {
    const taking = (): unknown => take(run(others), definitions.node, base.node, "x");
    if (refused) expect(taking).toThrow(/^node "n": give each .*The node x is "other" of this program already/);
    else expect(taking).not.toThrow();
  });
});

describe("an object whose resource is deleted", () => {
  const listed = (id: string): { listed: Identified[] } => ({
    listed: [
      { id, name: "n" },
      { id: "z", name: "z" },
    ],
  });

  test.each<[string, Kind, Other[], Parameters<typeof run>[1], string | undefined]>([
    ["goes, if nobody asks for it", "node", [], {}, undefined],
    ["stays, if another one has it", "node", [{ kind: "node", is: "took" }], {}, 'it is "other" of the program now'],
    [
      "stays, if the same one has it, under another state",
      "node",
      [{ kind: "node", name: "me", is: "took" }],
      {},
      'it is "me" of the program now',
    ],
    [
      "stays for one that asks for its id",
      "node",
      [{ kind: "node", inputs: { adopt: "x" } }],
      {},
      '"other" of the program adopts it',
    ],
    ["goes, if that asks for another id", "node", [{ kind: "node", inputs: { adopt: "y" } }], {}, undefined],
    [
      "stays for one that adopts its name",
      "node",
      [{ kind: "node", inputs: { adopt: true } }],
      {},
      '"other" of the program adopts it',
    ],
    ["goes, if that adopts nothing", "node", [{ kind: "node" }], {}, undefined],
    [
      "stays, if the run adopts all",
      "node",
      [{ kind: "node" }],
      { adoptAll: true },
      '"other" of the program adopts it',
    ],
    [
      "goes, if that adopts another name",
      "node",
      [{ kind: "node", inputs: { adopt: true, name: "o" } }],
      listed("y"),
      undefined,
    ],
    [
      "stays, if it is listed under that name",
      "node",
      [{ kind: "node", inputs: { adopt: true, name: "z" } }],
      { listed: [{ id: "x", name: "z" }] },
      '"other" of the program adopts it',
    ],
    [
      "goes, if that would replace it",
      "node",
      [{ kind: "node", inputs: { adopt: true, membershipId: "m2" } }],
      listed("x"),
      undefined,
    ],
    [
      "goes, if that is in another place",
      "node",
      [{ kind: "node", inputs: { adopt: true, environmentId: "e2" } }],
      listed("x"),
      undefined,
    ],
    [
      "stays with its parent",
      "node",
      [{ kind: "environment", inputs: { adopt: true } }],
      { listed: [{ id: "e", name: "e" }] },
      '"other" of the program adopts its parent',
    ],
    [
      "stays with its parent, which is asked for by its id",
      "node",
      [{ kind: "environment", inputs: { adopt: "e" } }],
      {},
      '"other" of the program adopts its parent',
    ],
    [
      "stays with what its parent is in",
      "node",
      [{ kind: "consortium", inputs: { adopt: "c" } }],
      {},
      '"other" of the program adopts its parent',
    ],
    ["goes from another parent", "node", [{ kind: "environment", inputs: { adopt: "e2" } }], {}, undefined],
    [
      "goes from its parent, if nobody could find it again",
      "appCred",
      [{ kind: "environment", inputs: { adopt: "e" } }],
      {},
      undefined,
    ],
    [
      "is that of the first who takes it",
      "node",
      [
        { kind: "node", name: "a", inputs: { adopt: "y" } },
        { kind: "node", name: "b", inputs: { name: "o", adopt: "x" } },
      ],
      {},
      '"b" of the program adopts it',
    ],
  ])("%s", async (_, kind, others, how, why) => {
    expect(await keeper(run(others, how), definitions[kind], "x", base[kind])).toBe(why);
  });

  test.each<[string, Other[], RegExp | undefined]>([
    [
      "one that asked for it by its id",
      [{ kind: "node", inputs: { adopt: "x" }, is: "failed" }],
      /^Fix "other", .*node "n" \(x\) is not deleted, because that asks for it and failed/,
    ],
    ["one that asked for its name, adopting or not", [{ kind: "node", is: "failed" }], /asks for it and failed/],
    [
      "one that asked for its parent",
      [{ kind: "environment", inputs: { adopt: "e" }, is: "failed" }],
      /asks for its parent and failed/,
    ],
    ["none that asked for another", [{ kind: "node", inputs: { name: "o" }, is: "failed" }], undefined],
    [
      "none that asked for another parent by its name alone",
      [{ kind: "environment", inputs: { name: "o" }, is: "failed" }],
      undefined,
    ],
  ])("is not deleted for the sake of %s, and has failed", async (_, others, why) => {
    const kept = keeper(run(others), definitions.node, "x", base.node);
    if (why)
      await expect(kept).rejects.toMatchObject({ code: "step-failed", message: expect.stringMatching(why) as string });
    else expect(await kept).toBeUndefined();
  });
});
