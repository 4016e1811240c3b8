import { anyText, client } from "./helpers";
import { manners, Recorded, recordedOn } from "./recorded";

/*
 * Calls of other programs for this API, recorded on 2026-11-23: see recorded.ts. Names are ours. The tests also check the parts of
 * answers that a program reads.
 */

/** The class of the vendor's utility that sets up a consortium (kaleido-io/consortium-setup-utility). */
describe.each(manners)("like %s: the setup utility", (like) => {
  test("sets up a consortium, and finds everything in its second run", async () => {
    const { recorded } = await recordedOn(like);
    expect((await recorded.run("200 GET /regions")).body).toMatchObject([{ _id: anyText, net_host: anyText }]);
    await recorded.run(`
200 GET /consortia
201 POST /consortia = c {"name":"C","description":"d"}
200 GET $c/memberships
201 POST $c/memberships = m1 {"org_name":"A"}
201 POST $c/memberships = m2 {"org_name":"B"}
200 GET $c/environments
201 POST $c/environments = e {"name":"E","provider":"geth","consensus_type":"poa"}
200 GET $e/nodes
201 POST $e/nodes = n1 {"name":"A's node","membership_id":"@m1"}
201 POST $e/nodes = n2 {"name":"B's node","membership_id":"@m2"}`);
    for (const node of ["$n1", "$n2"])
      expect((await recorded.run(`200~ GET ${node}`)).body.urls).toMatchObject({ rpc: anyText });
    await recorded.run("200 GET $e/appcreds");
    const credential = await recorded.run(`201 POST $e/appcreds = a1 {"name":"A's","membership_id":"@m1"}`);
    expect(credential.body).toMatchObject({ username: anyText, password: anyText });
    // the second run looks for undeleted objects with these names
    const there = async (list: string, of: object) =>
      expect((await recorded.run(`200 GET ${list}`)).body).toContainEqual(expect.objectContaining(of));
    await there("/consortia", { _id: recorded.filled("@c"), name: "C", description: "d", state: "setup" });
    await there("$c/memberships", { _id: recorded.filled("@m1"), org_name: "A", state: "active" });
    await there("$c/environments", { _id: recorded.filled("@e"), name: "E", state: "live" });
    const membership_id = recorded.filled("@m1");
    await there("$e/nodes", { _id: recorded.filled("@n1"), name: "A's node", membership_id, state: "started" });
    await there("$e/appcreds", { name: "A's", membership_id });
  });
});

/** The sample application KaleidoKards (kaleido-io/KaleidoKards), which creates its network with a token, and pays for its cards. */
describe.each(manners)("like %s: KaleidoKards", (like) => {
  test("checks its limits, creates its network with a token, and reads the address of each node's account", async () => {
    const { service, clock, recorded } = await recordedOn(like);
    const token = (await recorded.run(`200 POST /authtoken {"apikey":"${service.apiKey}"}`)).body.token as string;
    const plan = (await recorded.run("200 GET /orgs")).body[0]!.plan as string;
    const limits = (await recorded.run(`200 GET /plans/${plan}`)).body.limits;
    expect(limits).toMatchObject({ consortia: { per: { org: 2 } } });
    expect((await recorded.run("200 GET /consortia")).body.length).toBeLessThan(2);

    const own = new Recorded(client(service.baseUrl, token), clock);
    await own.run(`
201 POST /consortia = c {"name":"C","description":"d"}
201 POST $c/environments = e {"name":"E","provider":"geth","consensus_type":"poa"}
201 POST $c/memberships = m1 {"org_name":"user"}
201 POST $c/memberships = m2 {"org_name":"store"}
201 POST $e/nodes = n1 {"membership_id":"@m1","name":"user_node"}
201 POST $e/nodes = n2 {"membership_id":"@m2","name":"store_node"}`);
    const node = await own.run("200 GET $n1"); // it is waited for while it is "initializing", and ready in any other state
    expect(node.body.state).toBe("initializing");
    expect((await own.run("200~ GET $n1")).body.urls).toMatchObject({ rpc: anyText });
    const credential = await own.run(`201 POST $e/appcreds {"membership_id":"@m1"}`);
    expect(credential.body).toMatchObject({ username: anyText, password: anyText });
    expect((await own.run("200 GET $n1/status")).body.user_accounts).toEqual([anyText]);
  });
});
