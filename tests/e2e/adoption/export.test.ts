import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { send } from "../../support/network";
import { done, root } from "../support/stack";
import { canaryKey, tetherId, type World, world, writesOf } from "../support/world";

/** A network that was made by hand comes under Pulumi without being touched. */

const program = `
  const { Network } = require("pulumi-consortium");
  exports.network = Network.fromFile("network.yaml").outputs;
`;

let w: World;
let consortiumId: string;

async function post(path: string, body: object): Promise<string> {
  const { _id, id } = await send(w.service, "POST", path, body);
  return _id ?? id;
}

/** As in the console: names of all kinds, namesakes, a credential that nobody else knows, a tether that pins. */
beforeAll(async () => {
  w = await world(program, { inline: true, ledger: false, tethers: [{ id: tetherId, environment: "Haupt / EU" }] });
  consortiumId = await post("/consortia", {
    name: "Kaffee & Tee: 2026",
    description: 'Wer "was" lieferte\n# und wann',
  });
  const within = `/consortia/${consortiumId}`;
  const members = [];
  for (const org_name of ["Globex & Co.", "globex co", "東京", "0123", "true"])
    members.push(await post(`${within}/memberships`, { org_name }));
  const main = await post(`${within}/environments`, {
    name: "Haupt / EU",
    provider: "quorum",
    consensus_type: "ibft",
    chain_id: 4711,
  });
  const spare = await post(`${within}/environments`, { name: "-", provider: "geth", consensus_type: "poa" });
  for (const [index, name] of ["node", "node", "- [x]", "{{ a }}"].entries()) {
    await post(`${within}/environments/${main}/nodes`, { name, membership_id: members[index] });
  }
  await post(`${within}/environments/${spare}/nodes`, { name: "node", membership_id: members[4] });
  await post(`${within}/environments/${main}/appcreds`, { name: "ERP", membership_id: members[0] });
  await post(`/tether/${tetherId}/targetNetwork`, { network: "rinkeby" });
  await post(`/tether/${tetherId}/interval`, { interval: 12 });
});
afterAll(() => w.close());

/** What the service has, without what comes by itself with the start of a node. */
async function network() {
  const seen = await w.network();
  const lasting = ({ state: _, urls: _urls, first_user_account: _account, ...item }: Record<string, unknown>) => item;
  return Object.fromEntries(Object.entries(seen).map(([kind, items]) => [kind, items.map(lasting)]));
}

test("export writes its file, up adopts it: no call changes anything", async () => {
  const env = { ...process.env, CONSORTIUM_BASE_URL: w.service.baseUrl, CONSORTIUM_API_KEY: canaryKey };
  const args = [join(root, "dist/cli/consortium.js"), "export", "--consortium", "Kaffee & Tee: 2026", "--adopt"];
  const before = await network();
  w.service.clearCalls();
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  w.stack.write("network.yaml", stdout);

  const preview = await w.stack.preview();
  expect(preview.text).toContain(`: adopts ${consortiumId}`);
  await done(w.stack.up());
  expect(writesOf(w.service)).toEqual([]);
  expect(await network()).toEqual(before);
  const resources = await w.stack.resources();
  const kinds = { Consortium: 1, Environment: 2, Membership: 5, Node: 5 };
  expect(resources.map(({ type }) => type.split(":").at(-1)).sort()).toEqual(
    Object.entries(kinds).flatMap(([kind, count]) => Array<string>(count).fill(kind)),
  );
});

test("from then on it is a network like any other", async () => {
  await done(w.stack.preview({}, "--refresh", "--expect-no-changes"));
  expect(writesOf(w.service)).toEqual([]);
});
