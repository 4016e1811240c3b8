import { Engine, failed, type Props } from "../../support/engine";
import { bases } from "../../support/bases";
import { world } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";

/* A destination has no id: it is put under its name. Its member must be verified, and registered with an id registry. */

/** A document store and an id registry of the fixture's first member. */
async function stores() {
  const at = await world("service");
  const { net, engine: store, service, time, calls, said } = at;
  const registry = new Engine("service");
  await store.up({ ...bases.service(net), service: "documentstore", name: "documents" });
  await registry.up({ ...bases.service(net), service: "idregistry", name: "registry" });
  const { consortiumId, environmentId, membershipId } = net;
  const place = { consortiumId, environmentId, serviceId: store.kept!.id, serviceType: "documentstore" };
  const args: Props = { ...place, name: "inbox" };
  const whole: Props = { ...args, membershipId, idRegistryId: registry.kept!.id, testCertificate: true };
  const path = `/documentstore/${store.kept!.id}/destinations`;
  const list = async () => (await send(service, "GET", path)) as unknown as Props[];
  calls();
  return { engine: new Engine("destination"), net, service, time, calls, said, args, whole, path, list };
}

const writes = (calls: string[]): string[] => calls.filter((call) => !call.startsWith("GET"));
const put = "PUT /documentstore/:serviceId/destinations/:name";
const verify = "POST /consortia/:consortiumId/memberships/:membershipId/verify";
const register = "POST /idregistry/:serviceId/identity";

test("created together with its prerequisites, changed by another PUT, deleted", async () => {
  const { engine, calls, args, whole, list } = await stores();
  expect(await engine.up(whole)).toEqual({ then: "created" });
  expect(writes(calls())).toEqual([verify, register, put]);
  expect(engine.kept!.id).toBe("inbox");
  expect(engine.outputs).toMatchObject({ uri: expect.stringMatching(/^kld:/) as string, setupComplete: true });
  expect(await engine.up(whole)).toEqual({ then: "same" });
  expect(await engine.up(args)).toEqual({ then: "same" });
  expect(await engine.refresh()).toBe("there");
  expect(await engine.up({ ...args, kaleidoManaged: false })).toEqual({ then: "updated" });
  expect(writes(calls())).toEqual([put]);
  expect(await list()).toMatchObject([{ name: "inbox", kaleido_managed: false }]);
  expect(await engine.up({ ...args, name: "outbox" })).toMatchObject({ then: "replaced", deletedFirst: false });
  expect(await list()).toMatchObject([{ name: "outbox" }]);
  await engine.destroy();
  expect(await list()).toEqual([]);
});

test("a member that is verified and registered is not verified again", async () => {
  const { engine, calls, whole } = await stores();
  await engine.up(whole);
  calls();
  const other = new Engine("destination");
  expect(await other.up({ ...whole, name: "other" })).toEqual({ then: "created" });
  expect(writes(calls())).toEqual([register, put]); // which answers 409: registered already
});

test("another member is verified, although the first one is", async () => {
  const { engine, net, calls, whole } = await stores();
  await engine.up(whole);
  calls();
  await new Engine("destination").up({ ...whole, name: "other", membershipId: net.otherMembershipId });
  expect(writes(calls())).toEqual([verify, register, put]);
});

test("a member that is not verified: the service's own message, and nothing is kept", async () => {
  const { engine, time, calls, args, list } = await stores();
  // This run has just made its store, which a service may not know everywhere: for ten seconds, a refusal may be too early.
  const begun = time.now();
  expect(await engine.up({ ...args, testCertificate: false })).toEqual(failed(/is not verified/));
  expect(time.now() - begun).toBeLessThan(12_000);
  const sent = writes(calls());
  expect(sent).toEqual(sent.map(() => put));
  expect(sent.length).toBeLessThanOrEqual(6);
  expect(await engine.up({ ...args, testCertificate: false })).toEqual(failed(/is not verified/));
  expect(writes(calls())).toEqual([put]);
  expect(engine.kept).toBeUndefined();
  expect(await list()).toEqual([]);
});

test.each([
  [404, /Verify the membership .* in the console, then leave testCertificate out/],
  [405, /\[unsupported:/],
  [403, /^(?!.*unsupported).*403/],
])("a member that cannot be verified (%j)", async (status, why) => {
  const { engine, service, calls, whole } = await stores();
  service.faults.add({ kind: "status", status, errorMessage: "no", method: "POST" });
  expect(await engine.up(whole)).toEqual(failed(why));
  expect(writes(calls())).toEqual([verify]);
});

test.each([
  ['a name that cannot be part of a path: "."', { name: "." }, "name"],
  ['a name that cannot be part of a path: ".."', { name: ".." }, "name"],
  ["arguments that need the member, without it", { testCertificate: true }, "membershipId"],
])("%s is refused before any call", async (_, change, property) => {
  const { engine, calls, args } = await stores();
  expect(await engine.up({ ...args, ...change })).toMatchObject({ then: "refused", failures: [{ property }] });
  expect(calls()).toEqual([]);
});

test("a name that is taken is refused, and adopted with adopt: true", async () => {
  const { engine, calls, whole, args } = await stores();
  await engine.up(whole);
  newProcess();
  calls();
  const other = new Engine("destination");
  expect(await other.up(args)).toEqual(failed(/already taken by inbox/));
  expect(await other.up({ ...args, adopt: true })).toEqual({ then: "created" });
  expect(writes(calls())).toEqual([]);
});
