import { AsyncResource } from "node:async_hooks";
import { Server, type ServerUnaryCall, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { runtime } from "@pulumi/pulumi";
import { LanguageRuntimeService } from "@pulumi/pulumi/proto/language_grpc_pb";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ProviderService } from "../../../plugin/service";
import * as sdk from "../../../sdk";
import { listening } from "../../support/protocol";

/*
 * Programs in JavaScript, and the provider plugin, in the process of the test: the CLI and its engine are the real ones, and what they
 * talk to is the code itself, without the seconds that a language host and a plugin take to start. Dynamic providers, and programs in
 * other languages, run in Pulumi's own hosts.
 */

const { LanguageServer } = jest.requireActual<{
  LanguageServer: new (program: () => Promise<object>) => UntypedServiceImplementation;
}>("@pulumi/pulumi/automation/server");

// Programs share their connections by address, and one that failed keeps trying to reach its engine for good. An engine that is given the
// same port later would be out of reach for its own program, whose end Pulumi then takes for that of a program without resources.
const settings = jest.requireActual<{ grpcClientOptions: object }>("@pulumi/pulumi/runtime/settings");
Object.assign(settings.grpcClientOptions, { "grpc.use_local_subchannel_pool": 1 });

/** Commands that take the address of the program's host; refresh and destroy ask it for the plugins that it needs. */
const withHost = new Set(["up", "preview", "refresh", "destroy"]);

/** Each program listens to these, and one that failed does so for good. */
const uncaught = ["uncaughtException", "unhandledRejection"];

export class Inline {
  /** By the connection of each: the engine makes one for a provider, as it starts a process for it. */
  readonly #plugins = new Map<string, ProviderService>();
  #disconnect = (): void => undefined;
  #before = new Set<unknown>();

  private constructor(
    private readonly servers: Server[],
    private readonly pluginPort: number,
    private readonly hostPort?: number,
  ) {}

  /** @param program the text of a program in JavaScript, as it is when a run begins; undefined: one in another language */
  static async start(program?: () => string): Promise<Inline> {
    const [host, plugin] = [new Server(), new Server()];
    const run = (): Promise<object> => {
      inline.#disconnect = AsyncResource.bind(() => runtime.disconnectSync());
      return evaluated(program!());
    };
    host.addService(LanguageRuntimeService, new LanguageServer(run));
    const names = Object.keys(ResourceProviderService);
    const call =
      (name: string) =>
      (request: ServerUnaryCall<unknown, unknown>, ...args: unknown[]) =>
        (Reflect.get(inline.#plugin(request.getPeer()).calls, name) as (...args: unknown[]) => void)(request, ...args);
    plugin.addService(ResourceProviderService, Object.fromEntries(names.map((name) => [name, call(name)])));
    const inline: Inline = new Inline([host, plugin], await listening(plugin), program && (await listening(host)));
    return inline;
  }

  /** For one command: its arguments and environment. The engine starts a plugin of its own for each run, and so does this. */
  command(args: string[]): { args: string[]; env: Record<string, string> } {
    if (!withHost.has(args[0]!)) return { args, env: {} };
    this.#plugins.clear();
    this.#before = new Set(uncaught.flatMap((event) => process.listeners(event as "uncaughtException")));
    return {
      args: this.hostPort === undefined ? args : [...args, `--client=127.0.0.1:${this.hostPort}`],
      env: { PULUMI_DEBUG_PROVIDERS: `consortium:${this.pluginPort}` },
    };
  }

  #plugin(peer: string): ProviderService {
    const known = this.#plugins.get(peer);
    if (known) return known;
    const plugin = new ProviderService();
    this.#plugins.set(peer, plugin);
    return plugin;
  }

  /**
   * A run that failed leaves its program waiting: its connections are its own, and only it can close them.
   * @param regular whether the engine lived to end its plugins
   */
  ended(regular: boolean): void {
    this.#disconnect();
    for (const event of uncaught)
      for (const listener of process.listeners(event as "uncaughtException"))
        if (!this.#before.has(listener)) process.off(event, listener);
    if (regular) for (const plugin of this.#plugins.values()) plugin.left();
  }

  close(): void {
    for (const server of this.servers) server.forceShutdown();
  }
}

const load = (name: string): unknown => (name === "pulumi-consortium" ? sdk : jest.requireActual(name));

/** As Node.js runs a file: what it exports are the outputs of the stack. */
export async function evaluated(text: string): Promise<object> {
  const module = { exports: {} };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a test's own program, which is text for the language host, too
  const run = new Function("require", "module", "exports", text) as (...given: unknown[]) => void;
  run(load, module, module.exports);
  return Promise.resolve(module.exports);
}

/** The folder of the run that this process stands in for. */
let standing: string | undefined;

/** Until the child has ended, this process has the environment that the child has, and its folder: one at a time. */
export function standingIn(folder: string, env: Record<string, string | undefined>): () => void {
  if (standing !== undefined)
    throw new Error(
      `Wait for the run in ${standing} to end before the next one begins, in ${folder}: programs in the process of the test share its folder and environment. Stacks without \`inline\` can run at the same time.`,
    );
  const cwd = process.cwd();
  process.chdir(folder);
  standing = folder;
  const own = (name: string): boolean => /^(CONSORTIUM_|PULUMI_)/.test(name);
  const names = new Set([...Object.keys(env), ...Object.keys(process.env).filter(own)]);
  const before = new Map([...names].map((name) => [name, process.env[name]]));
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const name of names) set(name, env[name]);
  return () => {
    standing = undefined;
    process.chdir(cwd);
    before.forEach((value, name) => set(name, value));
  };
}
