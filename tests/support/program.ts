import { type CustomResource, type Output, runtime } from "@pulumi/pulumi";
import { type Alias } from "@pulumi/pulumi/proto/alias_pb";
import type * as proto from "@pulumi/pulumi/proto/resource_pb";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import { isSecret } from "./double/wire";

/** The registrations of a program, as the engine gets them. */
export interface Registered {
  type: string;
  name: string;
  /** As they go over the wire: a secret is `{ secret: value }`. */
  inputs: Record<string, unknown>;
  secretOutputs: string[];
  deletedWith: string;
  deleteBeforeReplace: boolean;
  customTimeouts: { create: string; update: string; delete: string } | undefined;
  provider: string;
  protect: boolean;
  retainOnDelete: boolean;
  ignoreChanges: string[];
  /** URNs of its dependencies. */
  dependencies: string[];
  /** URNs, or the parts that differ from its own. */
  aliases: unknown[];
  /** Whether it is only read. */
  read: boolean;
}

type Request = proto.RegisterResourceRequest | proto.ReadResourceRequest;

function opened(value: unknown): unknown {
  if (isSecret(value)) return { secret: opened(value.value) };
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]));
}

/** The parts that differ from the resource's own, or a URN. */
function aliasOf(alias: Alias): unknown {
  const { urn, spec } = alias.toObject();
  return spec === undefined ? urn : Object.fromEntries(Object.entries(spec).filter(([, value]) => Boolean(value)));
}

/** The part of a read; a registration has more. */
const read = (request: Request): Registered => ({
  type: request.getType(),
  name: request.getName(),
  inputs: opened(
    ("getObject" in request ? request.getObject() : request.getProperties())!.toJavaScript(),
  ) as Registered["inputs"],
  secretOutputs: request.getAdditionalsecretoutputsList(),
  provider: request.getProvider(),
  dependencies: request.getDependenciesList(),
  deletedWith: "",
  deleteBeforeReplace: false,
  customTimeouts: undefined,
  protect: false,
  retainOnDelete: false,
  ignoreChanges: [],
  aliases: [],
  read: true,
});

function registration(request: proto.RegisterResourceRequest): Registered {
  const timeouts = request.getCustomtimeouts()?.toObject();
  return {
    ...read(request),
    deletedWith: request.getDeletedwith(),
    deleteBeforeReplace: request.getDeletebeforereplace(),
    customTimeouts: timeouts && { create: timeouts.create, update: timeouts.update, delete: timeouts.pb_delete },
    protect: request.getProtect() ?? false,
    retainOnDelete: request.getRetainondelete() ?? false,
    ignoreChanges: request.getIgnorechangesList(),
    aliases: request.getAliasesList().map(aliasOf),
    read: false,
  };
}

/** A Pulumi program without an engine. Resources get the id `NAME-id`, and outputs as given, by type. */
export async function program(
  outputs: Record<string, Record<string, unknown>> = {},
  config: Record<string, string> = {},
) {
  const registered: Registered[] = [];
  const noting = <R extends Request>(
    method: "registerResource" | "readResource",
    noted: (request: R) => Registered,
  ) => {
    const calls = MockMonitor.prototype as unknown as Record<typeof method, (...args: unknown[]) => Promise<void>>;
    const call = calls[method];
    jest.spyOn(calls, method).mockImplementation(function (this: unknown, ...args) {
      registered.push(noted(args[0] as R));
      return call.apply(engine(this as MockMonitor), args);
    });
  };
  noting("registerResource", registration);
  noting("readResource", read);
  await runtime.setMocks({
    call: ({ token }) => Promise.reject(new Error(`no function ${token}`)),
    newResource: ({ type, name, inputs, id }) => ({
      id: id || `${name}-id`,
      state: { ...(inputs as object), ...outputs[type.split(":").at(-1)!] },
    }),
  });
  // Programs take it for a real engine, so they behave as in a real run, not as in a unit test.
  const monitor = runtime.getMonitor() as unknown as { mocks?: unknown };
  const { mocks } = monitor;
  delete monitor.mocks;
  const engine = (self: MockMonitor): MockMonitor => Object.create(self, { mocks: { value: mocks } }) as MockMonitor;
  runtime.setAllConfig(config);
  return {
    registered,
    /** The resource as it was registered. */
    of: async (resource: CustomResource): Promise<Registered> => {
      const urn = await valueOf(resource.urn);
      return registered.find(({ type, name }) => urn.endsWith(`${type}::${name}`))!;
    },
  };
}

export const valueOf = <T>(output: Output<T>): Promise<T> =>
  new Promise((resolve) => output.apply((value) => void resolve(value)));

afterEach(async () => {
  await (runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs(); // resources that a test does not look at are registered, too
  jest.restoreAllMocks();
  runtime.setAllConfig({});
});
