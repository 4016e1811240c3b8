import type { Service } from "../../../service/index";
import { build, client, furnish, quick, refused, type Send, start } from "../helpers";

/* Every call of the API, with the ids of another organization in every place: nothing is shown or changed. */

const methods = ["GET", "PUT", "POST", "PATCH", "DELETE"] as const;
const last = (path: string) => path.split("/").at(-1)!;

/** The routes of the API that name objects: who asks for one that is not there is told of all. */
function routesOf(service: Service): string[] {
  try {
    service.faults.add({ kind: "resetBefore", route: "/nowhere/:id" });
  } catch (error) {
    const [, all = ""] = (error as Error).message.split("there are ");
    return all.split(", ").filter((route) => !/^\/(health|runtime|services|target|releases|plans)\b/.test(route));
  }
  throw new Error("it knows /nowhere/:id");
}

/** One object of each kind of an organization: the values of a route's parameters. */
async function side(send: Send, name: string) {
  const made = await build(send);
  const more = await furnish(send, made);
  const create = async (path: string, body: object) => {
    const { status, body: one } = await send("POST", path, body);
    expect({ path, status, one }).toMatchObject({ status: 201 });
    return one._id ?? one.id;
  };
  const service = (type: string) =>
    create(`${made.paths.environment}/services`, { service: type, membership_id: made.membership });
  const [registry, documents] = [await service("idregistry"), await service("documentstore")];
  const store = { dataexchange: await service("dataexchange"), app2app: await service("app2app") };
  const keyed = await create("/embedded/api-keys", { name });
  const fault = await create("/embedded/faults", { kind: "status", status: 500, route: "/orgs", nth: 9_999 });
  const all: Record<string, string> = {
    consortiumId: made.consortium,
    membershipId: made.membership,
    environmentId: made.environment,
    nodeId: made.node,
    credentialId: made.credential.username,
    configurationId: last(more.configuration),
    invitationId: last(more.invitation),
    tetherId: `tether-of-${name}`,
  };
  /** The value of a parameter in a route. */
  const id = (route: string, parameter: string): string | undefined => {
    if (parameter === "id") return route.includes("/api-keys/") ? keyed : fault;
    if (parameter === "zoneId")
      return last(route.includes("/environments/") ? more.environmentZone : more.consortiumZone);
    if (parameter !== "serviceId") return all[parameter];
    const [, type = ""] = route.split("/");
    return { idregistry: registry, documentstore: documents, ...store }[type] ?? last(more.service);
  };
  const ids = [...Object.values(all), registry, documents, keyed, fault, ...Object.values(more).map(last)];
  const body = {
    name,
    org_name: name,
    membership_id: made.membership,
    service: "ipfs",
    region: "r",
    cloud: "c",
    type: "t",
  };
  const network = { network: "rinkeby", interval: 1, wei: "1", test_certificate: true };
  const money = { account: `0x${"a1".repeat(20)}`, amount: "1", email: "a@b.example" };
  return { send, id, ids, body: { ...body, ...network, ...money } };
}

test("a call with another organization's ids finds nothing, whichever of its ids these are", async () => {
  const names = ["north", "south"];
  const { service } = await start({
    organizations: names.map((name) => ({ name })),
    tethers: names.map((organization) => ({ id: `tether-of-${organization}`, organization })),
    limits: { consortia: 99 },
    timing: quick,
  });
  const clients = service.organizations.map(({ apiKey }) => client(service.baseUrl, apiKey));
  const [own, other] = [await side(clients[0]!, "north"), await side(clients[1]!, "south")];
  const kindOf = (path: string) => (/environments$/.test(path) ? { provider: "geth", consensus_type: "poa" } : {});
  const call = async (method: string, path: string, body: object) => {
    const { status, text } = await own.send(method, path, /POST|PUT|PATCH/.test(method) ? body : undefined);
    return { method, path, status, text };
  };
  /** All that there is, as the service has it. */
  const kept = () => JSON.stringify(Object.values(service.store).map((collection) => collection.list()));
  const before = kept();
  const routes = routesOf(service);
  const named = routes.flatMap((route) => {
    const parameters = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => own.id(route, name));
    return parameters.length > 0 && !route.includes("/invitations/:id") ? [{ route, parameters }] : [];
  });
  expect(named.length).toBeGreaterThan(40);
  const pathOf = (route: string, isTheirs: (parameter: string) => boolean) =>
    route.replace(/:(\w+)/g, (_, name: string) => (isTheirs(name) ? other : own).id(route, name) ?? "rinkeby");
  const found: object[] = [];
  for (const { route, parameters } of named)
    for (let which = 1; which < 2 ** parameters.length; which++) {
      const path = pathOf(route, (name) => (which >> parameters.indexOf(name)) % 2 === 1);
      for (const method of methods) {
        const answer = await call(method, path, { ...own.body, ...kindOf(path) });
        if (answer.status !== 404) found.push(answer);
      }
    }
  expect(found).toEqual([]);
  expect(kept()).toBe(before);

  // nor are their objects in a list, or taken for an own object
  service.clearCalls();
  for (const path of [
    ...routes.filter((route) => !route.includes(":")),
    ...named.map(({ route }) => pathOf(route, () => false)),
  ]) {
    const { text } = await call("GET", path, {});
    expect([path, other.ids.filter((id) => text.includes(`"${id}"`))]).toEqual([path, []]);
  }
  const { membership_id } = other.body;
  for (const list of ["nodes", "appcreds", "configurations", "services"]) {
    const path = pathOf(`/consortia/:consortiumId/environments/:environmentId/${list}`, () => false);
    const body = { membership_id, service: "ipfs", type: "t" };
    expect(await own.send("POST", path, body)).toMatchObject(refused(400, `membership_id: ${membership_id}`));
  }
  expect(kept()).toBe(before);

  // with the own ids, there is something at each of them
  const open: string[] = [];
  for (const { route } of named) {
    const path = pathOf(route, () => false);
    const answers = [];
    for (const method of methods.slice(0, 4)) answers.push(await call(method, path, { ...own.body, ...kindOf(path) }));
    if (answers.every(({ status }) => status === 404)) open.push(path);
  }
  for (const path of open.filter((path) => !path.endsWith("/lastReport")))
    expect(await call("DELETE", path, {})).toMatchObject({ path, status: 204 });
});
