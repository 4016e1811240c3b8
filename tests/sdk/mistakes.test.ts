import { type CustomResource } from "@pulumi/pulumi";
import * as runtime from "../../provider/dynamic/runtime";
import * as sdk from "../../sdk";
import { type Kind } from "../support/engine";
import { program } from "../support/program";
import { start } from "../support/service";

/* Programs with one mistake: the class at once, or else the check of a preview, names it and says what to do. */

/** The classes, without the types that would not let the mistakes be written down. */
type Class = new (name: string, args?: object, opts?: object) => CustomResource;
const { AppCred, Consortium, Environment, Membership, Node, Provider, TetherService } = sdk as unknown as Record<
  "AppCred" | "Consortium" | "Environment" | "Membership" | "Node" | "Provider" | "TetherService",
  Class
>;
const ids = { consortiumId: "c1", environmentId: "e1", membershipId: "m1" };
const pinned = { tetherId: "0123456789", network: "rinkeby", intervalHours: 1 };
const inConsortium = { consortiumId: "c1", provider: "quorum", consensusType: "raft" };

test.each<[string, () => CustomResource, RegExp]>([
  [
    "half of a character, which Pulumi could not hand on",
    () => new Environment("x", { ...inConsortium, description: "half \ud83d" }),
    /Environment x: description: it contains half of a character/,
  ],
  [
    "an unknown argument",
    () => new Node("x", { ...ids, plan: "large" }),
    /^property plan: Node has no argument "plan".*extra/,
  ],
  [
    "a misspelt parent",
    () => new Membership("x", { consortim: new Consortium("one", {}) }),
    /^property consortim: .*did you mean "consortium"\?/,
  ],
  [
    "a misspelt setting of a Provider: without it, another key would be used",
    () => new Provider("x", { apikey: "k" }),
    /^Provider x has no argument "apikey"; did you mean "apiKey"\?$/,
  ],
  [
    "a parent that is given twice",
    () => new Membership("x", { consortium: new Consortium("one", {}), consortiumId: "c1" }),
    /^Membership x: consortium and consortiumId are both given/,
  ],
  [
    "a tether that is given twice",
    () => new TetherService("x", { ...pinned, consoleUrl: "https://x/0123456789" }),
    /^TetherService x: tetherId and consoleUrl are both given/,
  ],
  [
    "Pulumi's option import of an object that can be adopted: names adopt",
    () => new Membership("x", { consortiumId: "c1" }, { import: "m1" }),
    /^Membership x: Pulumi's option import does not work .* adopt: "m1" instead; .*`consortium export --adopt`/,
  ],
  [
    "Pulumi's option import of a credential: says that a new one is made",
    () => new AppCred("x", ids, { import: "a1" }),
    /^AppCred x: Pulumi's option import .* leave the import out to create a new one/,
  ],
  [
    "Pulumi's option import of a tether: says that its id is enough",
    () => new TetherService("x", pinned, { import: "0123456789" }),
    /^TetherService x: Pulumi's option import .* leave the import out, because its tetherId identifies it/,
  ],
])("%s is refused before any call", async (_, make, message) => {
  const { service } = await start();
  expect(await complaintOf(make)).toMatch(message);
  expect(service.calls).toEqual([]);
});

test.each(["Membership", "Environment", "Node", "AppCred", "TetherService"] as const)(
  "%s without arguments, as in JavaScript, names the required ones",
  async (name) => {
    const Unplaced = (sdk as unknown as Record<string, Class & { get?: (name: string, id: string) => CustomResource }>)[
      name
    ]!;
    const why = new RegExp(`^${name} x: missing arguments: pass at least the parent, e\\.g\\. {`);
    expect(await complaintOf(() => new Unplaced("x"))).toMatch(why);
    if (Unplaced.get) expect(await complaintOf(() => Unplaced.get!("x", "id"))).toMatch(why);
  },
);

async function complaintOf(make: () => CustomResource): Promise<string> {
  const { of } = await program();
  try {
    const { type, inputs } = await of(make());
    const [, first = "", rest = ""] = /:(\w)(\w+)$/.exec(type)!;
    const { failures } = await runtime[`${first.toLowerCase()}${rest}` as Kind].check({}, inputs);
    return failures.map(({ property, reason }) => `property ${property}: ${reason}`).join("\n");
  } catch (error) {
    return (error as Error).message;
  }
}
