import fastify, { type FastifyInstance } from "fastify";
import { Engine } from "./engine";
import { newProcess } from "./service";
import { type VirtualTime, virtualTime } from "./virtual-time";

const account = `0x${"5b".repeat(20)}`;
const price = 7n;

/** How another service than the embedded one treats its tether: it takes every deployment, and charges for each. */
export interface Manners {
  /** Never answers `deploy`. */
  silent?: boolean;
  /** How long after a call of `deploy` the contract is there and paid for; Infinity: it never is. */
  minedAfterMs?: number;
  /** Answers `activate` with this status as long as there is no contract; undefined lets it start anyway. */
  unready?: number;
  /** Shows no balance, or always the same one. */
  balance?: "none" | "constant";
}

export interface OtherTether {
  engine: Engine;
  time: VirtualTime;
  said: string[];
  manners: Manners;
  /** The amount that people have sent to its account, in wei. */
  funds: bigint;
  /** Its actions, and how often it was paid. */
  did: { deploys: number; activates: number; mined: string[]; active: boolean };
}

const servers: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Starts it, in virtual time; who waits for an answer that never comes waits a quarter of a real second. */
export async function otherTether(manners: Manners): Promise<OtherTether> {
  const time = virtualTime();
  const did: OtherTether["did"] = { deploys: 0, activates: 0, mined: [], active: false };
  const world: OtherTether = { engine: new Engine("tetherService"), time, said: [], manners, funds: 1000n, did };
  jest.spyOn(console, "log").mockImplementation((line: string) => void world.said.push(line));
  let network = "";

  const server = fastify({ forceCloseConnections: true });
  servers.push(server);
  server.get("/api/v1/consortia", () => [{ _id: "c1", name: "trade", owner: "o1", state: "setup" }]);
  const at = "/api/v1/tether/:id";
  server.get(at, (_, reply) => reply.code(404).send({}));
  server.get(`${at}/account`, () => {
    const spent = world.manners.balance === "constant" ? 0n : price * BigInt(did.mined.length);
    return { address: account, ...(world.manners.balance === "none" ? {} : { wei: String(world.funds - spent) }) };
  });
  server.get(`${at}/balance/:network`, (_, reply) => reply.code(404).send({ errorMessage: "no such call" }));
  server.post<{ Body: { network: string } }>(`${at}/targetNetwork`, ({ body }) => ({ set: (network = body.network) }));
  server.post(`${at}/interval`, () => ({}));
  server.post(`${at}/deploy`, (_, reply) => {
    did.deploys++;
    const { minedAfterMs = 0, silent } = world.manners;
    const where = network;
    if (minedAfterMs === 0) did.mined.push(where);
    else if (minedAfterMs < Infinity) time.after(minedAfterMs, () => void did.mined.push(where));
    return silent ? new Promise(() => undefined) : reply.send({});
  });
  server.post(`${at}/activate`, (_, reply) => {
    did.activates++;
    const { unready } = world.manners;
    if (unready && !did.mined.includes(network)) return reply.code(unready).send({ errorMessage: "no contract yet" });
    if (did.active) return reply.code(409).send({ errorMessage: "no" });
    did.active = true;
    return reply.send("true");
  });
  server.post(`${at}/deactivate`, (_, reply) => {
    if (!did.active) return reply.code(409).send({ errorMessage: "no" });
    did.active = false;
    return reply.send("true");
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  newProcess({
    CONSORTIUM_API_KEY: "key",
    CONSORTIUM_BASE_URL: `${url}/api/v1`,
    CONSORTIUM_REQUEST_TIMEOUT: "0.25",
  });
  return world;
}
