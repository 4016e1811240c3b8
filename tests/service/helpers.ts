import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Database } from "../../service/storage/database";
import { startService, type Service, type ServiceOptions } from "../../service/index";

/** Any object that the service shows. A test reads the fields that it checks. */
export interface Wire {
  readonly [field: string]: unknown;
  readonly _id: string;
  readonly id: string;
  readonly chain_id: number;
  readonly name: string;
  readonly state: string;
  readonly username: string;
  readonly password: string;
  readonly account: string;
  readonly balance: string;
  readonly errorMessage: string;
  readonly geth: { readonly public_address: string };
  readonly urls: { readonly rpc: string; readonly wss: string };
  readonly user_accounts: readonly string[];
  readonly block_height: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** One object or a list of them; undefined if the text is no JSON. */
  body: Wire & Wire[];
}

/** Matchers with the type of the matched value. */
export const anyText = expect.any(String) as string;
export const anyNumber = expect.any(Number) as number;
export const containing = (text: string) => expect.stringContaining(text) as string;
export const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;

/** An error answer with a message like this. */
export const refused = (status: number, text: string | RegExp = "") => ({
  status,
  body: { errorMessage: typeof text === "string" ? containing(text) : matching(text) },
});

export type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** A client based on fetch. A string body is sent unchanged; the key "" sends no key. */
export const client =
  (baseUrl: string, apiKey: string): Send =>
  async (method, path, body, headers) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
        "content-type": "application/json",
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) as Answer["body"] };
  };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const quick = { environmentStart: 0, nodeStart: 0, deletedVisible: 0 };

/** A clock that moves only on request. */
export class FakeClock {
  constructor(public time = Date.UTC(2026, 0, 1)) {}
  readonly now = () => this.time;
  pass(ms: number): void {
    this.time += ms;
  }
}

const endings: (() => unknown)[] = [];
/** Runs a function after the test, in reverse order. */
export const atEnd = (end: () => unknown) => void endings.push(end);
afterEach(async () => {
  for (let end = endings.pop(); end; end = endings.pop()) await end();
});

/** Starts a service that is closed after the test. */
export async function start(options: ServiceOptions = {}): Promise<{ service: Service; send: Send }> {
  const service = await startService(options);
  atEnd(() => service.close());
  return { service, send: client(service.baseUrl, service.apiKey) };
}

/** A folder that is removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "consortium-test-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The database of the objects in the folder of a service that does not run. */
export const objectsIn = (dataDir: string) => Database.open(join(dataDir, "objects"));

export interface World {
  consortium: string;
  membership: string;
  environment: string;
  node: string;
  /** User name and password of a credential. */
  credential: { username: string; password: string };
  /** Paths of lists and objects. */
  paths: Record<"consortium" | "membership" | "environment" | "node" | "credential", string>;
}

/** One object of each kind, made through the API. */
export async function build(
  send: Send,
  environment: object = { provider: "quorum", consensus_type: "ibft" },
): Promise<World> {
  const create = async (path: string, body: unknown) => {
    const { status, body: made } = await send("POST", path, body);
    expect(status).toBe(201);
    return made;
  };
  const consortium = (await create("/consortia", { name: "supply" }))._id;
  const inConsortium = `/consortia/${consortium}`;
  const membership = (await create(`${inConsortium}/memberships`, { org_name: "acme" }))._id;
  const env = (await create(`${inConsortium}/environments`, { name: "test", ...environment }))._id;
  const inEnvironment = `${inConsortium}/environments/${env}`;
  const node = (await create(`${inEnvironment}/nodes`, { membership_id: membership, name: "n1" }))._id;
  const credential = await create(`${inEnvironment}/appcreds`, { membership_id: membership });
  return {
    consortium,
    membership,
    environment: env,
    node,
    credential,
    paths: {
      consortium: inConsortium,
      membership: `${inConsortium}/memberships/${membership}`,
      environment: inEnvironment,
      node: `${inEnvironment}/nodes/${node}`,
      credential: `${inEnvironment}/appcreds/${credential.username}`,
    },
  };
}

/** Creates one object of each kind beyond the specification, and returns their paths. */
export async function furnish(send: Send, { paths, membership }: World) {
  const create = async (list: string, body: object) => {
    const { status, body: made } = await send("POST", list, body);
    expect({ status, made }).toMatchObject({ status: 201 });
    return `${list}/${made._id}`;
  };
  const inside = paths.environment;
  const place = { name: "z", region: "us-east-2", cloud: "aws" };
  const secret = { key: "s3cr3t-value" };
  return {
    consortiumZone: await create(`${paths.consortium}/zones`, place),
    environmentZone: await create(`${inside}/zones`, place),
    configuration: await create(`${inside}/configurations`, {
      name: "c",
      type: "node_config",
      membership_id: membership,
      details: secret,
    }),
    service: await create(`${inside}/services`, {
      name: "s",
      service: "ipfs",
      membership_id: membership,
      details: secret,
    }),
    invitation: await create(`${paths.consortium}/invitations`, { org_name: "other", email: "ops@other.example" }),
  };
}

/** A service with a network: one object of each kind of the specification. */
export async function populated(options: ServiceOptions = {}, environment?: object) {
  const started = await start(options);
  const state = async (path: string) => (await started.send("GET", path)).body?.state;
  return { ...started, ...(await build(started.send, environment)), state };
}

/** The same on a clock that moves only on request. */
export async function clocked(options: ServiceOptions = {}, environment?: object) {
  const clock = new FakeClock();
  return { ...(await populated({ clock: clock.now, ...options }, environment)), clock };
}

/** The same with one object of each other kind, too; `all` are the paths of all of them. */
export async function furnished(options: ServiceOptions = {}) {
  const made = await clocked(options);
  const more = await furnish(made.send, made);
  return { ...made, more, all: { ...made.paths, ...more } };
}

/** The list that an object is in. */
export const listOf = (path: string) => path.replace(/\/[^/]+$/, "");

export const basic = (username: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
});
