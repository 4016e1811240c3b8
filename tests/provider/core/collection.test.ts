import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { Collection } from "../../../provider/core/collection";
import { type Props } from "../../../provider/core/definition";
import { newSession, type Session } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";

/* Which objects of a place may stand for what a program asks for. */

type Kind = "node" | "environmentZone" | "service" | "invitation" | "appCred";
const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
const base: Record<Kind, Props> = {
  node: { ...owned, name: "n" },
  appCred: { ...owned, name: "n" },
  service: { ...owned, name: "ids", service: "idregistry" },
  invitation: { consortiumId: "c", orgName: "acme", email: "a@b" },
  environmentZone: { consortiumId: "c", environmentId: "e", name: "ohio", region: "r", cloud: "aws" },
};

function collectionOf(kind: Kind, inputs: Props = {}, prepare: (session: Session) => void = () => undefined) {
  const session = newSession({} as ConsortiumClient, { resource: { key: "me", name: "me" } });
  prepare(session);
  return Collection.of(session, definitions[kind], { ...base[kind], ...inputs });
}
const item = (id: string, fields: Props): Identified => ({ id, ...fields });
const ids = (items: Identified[]): string[] => items.map(({ id }) => id);

test.each<[string, Kind, Props, Props[], number[]]>([
  ["its name", "node", {}, [{ name: "o" }, { name: "n" }, { name: "n" }], [1, 2]],
  ["its name, with spaces around", "node", { name: " n " }, [{ name: "n" }], [0]],
  ["nothing like it", "node", {}, [{ name: "N" }], []],
  ["nothing that has no name", "appCred", {}, [{ name: "n" }], []],
  [
    "all that distinguishes it",
    "environmentZone",
    {},
    [
      { region: "r", cloud: "gcp" },
      { region: "q", cloud: "aws" },
      { region: "r", cloud: "aws" },
    ],
    [2],
  ],
  ["that in another spelling", "environmentZone", { cloud: "AWS" }, [{ region: "R", cloud: "aws" }], [0]],
  [
    "nothing that is over",
    "invitation",
    {},
    [
      { org_name: "acme", state: "expired" },
      { org_name: "acme", state: "sent" },
    ],
    [1],
  ],
  [
    "its name before a shared one",
    "service",
    {},
    [{ name: "x", service: "idregistry", service_type: "utility" }, { name: "ids" }],
    [1],
  ],
  [
    "a shared one that fits",
    "service",
    {},
    [
      { name: "x", service: "ipfs", service_type: "utility" },
      { name: "y", service: "idregistry", service_type: "member" },
      { name: "z", service: "idregistry", service_type: "utility" },
    ],
    [2],
  ],
])("namesakes are those with %s", (_, kind, inputs, fields, found) => {
  const items = fields.map((one, at) => item(String(at), one));
  expect(ids(collectionOf(kind, inputs).namesakes(items))).toEqual(found.map(String));
});

test("its name in messages", () => {
  const session = newSession({} as ConsortiumClient);
  const said: string[] = [];
  session.say = (line) => void said.push(line);
  const one = Collection.of(session, definitions.node, base.node, "x");
  one.warn("no");
  one.say("yes");
  expect(said).toEqual(['Warning: node "n" (x): no', 'node "n" (x): yes']);
  expect([one.error("conflict", "no").message, collectionOf("node").what]).toEqual(['node "n" (x): no', 'node "n"']);
});
