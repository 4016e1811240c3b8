import { type CustomResource, type Output, runtime } from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";

/** What a program registers, as the engine gets it. */
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
  /** URNs of what it needs. */
  dependencies: string[];
  /** URNs, or what differs from its own. */
  aliases: unknown[];
  /** Whether it is only read. */
  read: boolean;
}

interface Request {
  getType(): string;
  getName(): string;
  getObject?(): { toJavaScript(): Record<string, unknown> };
  getProperties?(): { toJavaScript(): Record<string, unknown> };
  getAdditionalsecretoutputsList(): string[];
  getDeletedwith?(): string;
  getDeletebeforereplace?(): boolean;
  getCustomtimeouts?(): { toObject(): { create: string; update: string; pb_delete: string } } | undefined;
  getProvider(): string;
  getAliasesList?(): { toObject(): { urn: string; spec?: object } }[];
  getProtect?(): boolean;
  getRetainondelete?(): boolean;
  getIgnorechangesList?(): string[];
  getDependenciesList(): string[];
}

const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== "object" || value === null) return value;
  if ("4dabf18193072939515e22adb298388d" in value) {
    const { "4dabf18193072939515e22adb298388d": signature, value: inner } = value as Record<string, unknown>;
    return signature === secretSignature ? { secret: opened(inner) } : value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]));
}

/** A Pulumi program without an engine. Resources get the id `NAME-id`, and outputs as given, by type. */
export async function program(
  outputs: Record<string, Record<string, unknown>> = {},
  config: Record<string, string> = {},
) {
  const registered: Registered[] = [];
  const note = (request: Request, read: boolean): void => {
    const timeouts = request.getCustomtimeouts?.()?.toObject();
    registered.push({
      type: request.getType(),
      name: request.getName(),
      inputs: opened(
        (request.getObject ?? request.getProperties)!.call(request).toJavaScript(),
      ) as Registered["inputs"],
      secretOutputs: request.getAdditionalsecretoutputsList(),
      deletedWith: request.getDeletedwith?.() ?? "",
      deleteBeforeReplace: request.getDeletebeforereplace?.() ?? false,
      customTimeouts: timeouts && { create: timeouts.create, update: timeouts.update, delete: timeouts.pb_delete },
      provider: request.getProvider(),
      protect: request.getProtect?.() ?? false,
      aliases: (request.getAliasesList?.() ?? []).map((alias) => {
        const { urn, spec } = alias.toObject();
        return spec === undefined
          ? urn
          : Object.fromEntries(Object.entries(spec).filter(([, value]) => Boolean(value)));
      }),
      retainOnDelete: request.getRetainondelete?.() ?? false,
      ignoreChanges: request.getIgnorechangesList?.() ?? [],
      dependencies: request.getDependenciesList(),
      read,
    });
  };
  const { registerResource, readResource } = MockMonitor.prototype as unknown as Record<
    string,
    (...args: unknown[]) => unknown
  >;
  jest.spyOn(MockMonitor.prototype, "registerResource").mockImplementation(function (
    this: MockMonitor,
    ...args: unknown[]
  ) {
    note(args[0] as Request, false);
    return registerResource!.apply(engine(this), args) as Promise<void>;
  });
  jest.spyOn(MockMonitor.prototype, "readResource").mockImplementation(function (
    this: MockMonitor,
    ...args: unknown[]
  ) {
    note(args[0] as Request, true);
    return readResource!.apply(engine(this), args) as Promise<void>;
  });
  await runtime.setMocks({
    call: ({ token }) => Promise.reject(new Error(`no function ${token}`)),
    newResource: ({ type, name, inputs, id }) => ({
      id: id || `${name}-id`,
      state: { ...(inputs as object), ...outputs[type.split(":").at(-1)!] },
    }),
  });
  // To programs it is an engine: what they do differently in unit tests, they do not do here.
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
  await (runtime as unknown as { waitForRPCs(): Promise<void> }).waitForRPCs(); // what a test has not looked at is registered too
  jest.restoreAllMocks();
  runtime.setAllConfig({});
});
