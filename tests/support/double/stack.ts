import { AsyncResource } from "node:async_hooks";
import { status } from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";
import { log, Resource as SdkResource, runtime } from "@pulumi/pulumi";
import { type IEngineServer } from "@pulumi/pulumi/proto/engine_grpc_pb";
import {
  GetRootResourceResponse,
  type LogRequest,
  LogSeverity,
  SetRootResourceResponse,
} from "@pulumi/pulumi/proto/engine_pb";
import { RunRequest, type RunResponse } from "@pulumi/pulumi/proto/language_pb";
import { type IResourceMonitorServer } from "@pulumi/pulumi/proto/resource_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/resource_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { durationSeconds } from "../../../provider/constants";
import { plain, struct } from "../protocol";
import { Deployment, type RunOptions, Stopped } from "./deployment";
import { serve, stopServing } from "./direct";
import { type Adapter } from "./provider";
import { isProvider, type Resource, type Wanted } from "./state";
import { isSecret, type Props, revealed } from "./wire";

/*
 * A stack without Pulumi's CLI: programs run in this process with the real SDK, and their resources on the real adapters, in virtual
 * time where the test has started that. tests/e2e/life/engine/ runs the same story here and on the real CLI.
 */

/** As inline programs of the Automation API run. */
const { LanguageServer } = jest.requireActual<{
  LanguageServer: new (program: Program) => {
    run(call: { request: RunRequest }, callback: (error: Error | null, response?: RunResponse) => void): Promise<void>;
  };
}>("@pulumi/pulumi/automation/server");

// Stack traces of every promise and resource are for debugging: nobody sees them here, and they take a tenth of the time of a run.
const debugging = jest.requireActual<{ debuggablePromise: unknown }>("@pulumi/pulumi/runtime/debuggable");
debugging.debuggablePromise = (promise: Promise<unknown>) => promise;
(SdkResource as unknown as { callsites: () => never[] }).callsites = () => [];

/** Runs that a test has not waited for, such as one that ran into its time limit. */
const open = new Set<Deployment>();
afterEach(() => [...open].forEach((deployment) => deployment.close()));

export type Program = () => unknown;

export interface Run {
  /** Steps, such as `create Node n1`, in the order in which they began. */
  steps: string[];
  /** Steps that change something. */
  changes: string[];
  /** Errors by the name of the resource; "" for the program as a whole. */
  errors: { name: string; message: string }[];
  /** All that they say. */
  failure: string;
  /** Other lines. */
  lines: string[];
  /** The same in one. */
  said: string;
}

export interface StackOptions {
  /** Stack configuration; `secret(value)` of wire.ts makes one secret. */
  config?: Props;
}

export class Stack {
  /** The state, as in a backend. */
  state: Resource[] = [];
  readonly #config: Props;

  constructor(
    readonly adapter: Adapter,
    { config = {} }: StackOptions = {},
  ) {
    this.#config = adapter === "plugin" ? { ...config, "consortium:plugin": "true" } : config;
  }

  /** Everything in the state but providers and components, by its name. */
  get resources(): Map<string, Resource> {
    const own = this.state.filter((one) => one.custom && !one.delete && !isProvider(one));
    return new Map(own.map((one) => [one.name, one]));
  }

  /** A resource of the state. @throws where it is not there */
  of(name: string): Resource {
    const found = this.resources.get(name);
    if (!found) throw new Error(`no ${name} in the state, which has ${[...this.resources.keys()].join(", ")}`);
    return found;
  }

  up = (program: Program, options?: RunOptions): Promise<Run> => this.#withProgram(program, false, options);
  preview = (program: Program, options?: RunOptions): Promise<Run> => this.#withProgram(program, true, options);
  refresh = (options?: RunOptions): Promise<Run> => this.#run(false, options, (deployment) => deployment.refresh());
  destroy = (options?: RunOptions): Promise<Run> => this.#run(false, options, (deployment) => deployment.finish());

  #withProgram(program: Program, preview: boolean, options?: RunOptions): Promise<Run> {
    return this.#run(preview, options, async (deployment) => {
      if (options?.refresh) await deployment.refresh();
      if (!deployment.failed)
        await runProgram(program, deployment, { adapter: this.adapter, config: this.#config, preview });
      await deployment.finish();
    });
  }

  async #run(
    preview: boolean,
    options: RunOptions | undefined,
    act: (deployment: Deployment) => Promise<void>,
  ): Promise<Run> {
    const keep = (state: Resource[]): void => void (preview || (this.state = state));
    const deployment = new Deployment(this.state, keep, this.#config, preview, options);
    open.add(deployment);
    const print = console.log;
    console.log = (...args: unknown[]): void => {
      deployment.lines.push(args.join(" "));
      print(...args);
    };
    try {
      await act(deployment);
      await deployment.settled();
    } finally {
      console.log = print;
      open.delete(deployment);
      deployment.close();
    }
    const { steps, errors, lines } = deployment;
    return {
      steps,
      changes: steps.filter((step) => !/^(same|refresh) /.test(step)),
      errors,
      failure: errors.map(({ message }) => message).join("\n"),
      lines,
      said: lines.join("\n"),
    };
  }
}

interface Programmed {
  adapter: Adapter;
  config: Props;
  preview: boolean;
}

/** A program that hears nothing more does not end by itself. */
const longestAnswerMs = 50;

async function runProgram(program: Program, deployment: Deployment, how: Programmed): Promise<void> {
  jest.spyOn(log, "debug").mockResolvedValue(undefined); // three times as many calls as registrations, and nobody sees them
  const logged: string[] = [];
  const monitor = serve(monitorOf(deployment));
  const engine = serve(engineOf(deployment, logged));
  const request = new RunRequest();
  request.setProject("double");
  request.setStack("test");
  request.setOrganization("organization");
  request.setDryrun(how.preview);
  request.setParallel(16);
  request.setMonitorAddress(monitor);
  request.setArgsList([engine]);
  for (const [key, value] of Object.entries(how.config)) request.getConfigMap().set(key, String(revealed(value)));
  request.setConfigsecretkeysList(Object.keys(how.config).filter((key) => isSecret(how.config[key])));
  // The program's connections are its own, and only it can close them.
  let disconnect = (): void => undefined;
  let answered: () => unknown = () => undefined;
  const begun = (): unknown => {
    // A call that is under way when the connection closes would fail the test, and not the program.
    const calls = runtime as unknown as { waitForRPCs(): Promise<void> };
    answered = AsyncResource.bind(() => calls.waitForRPCs());
    disconnect = AsyncResource.bind(() => runtime.disconnectSync());
    return program();
  };
  const close = (): void => [monitor, engine].forEach(stopServing);
  deployment.onClose(close);
  try {
    const ran = new Promise<string>((resolve) => {
      const answer = (error: Error | null, response?: RunResponse): void =>
        resolve(error?.message ?? response?.getError() ?? "");
      void new LanguageServer(begun).run({ request }, answer).catch((error: Error) => resolve(error.message));
    });
    // After a failure nobody answers the program any more: the engine ends it.
    const failure = await Promise.race([ran, deployment.failure.then(() => "")]);
    await deployment.settled();
    await Promise.race([answered(), sleep(longestAnswerMs)]);
    if (failure !== "") deployment.fail("", new Error([...logged, failure].join("\n")));
  } finally {
    disconnect();
    close();
  }
}

type Unary = (call: { request: never }, callback: (error: object | null, answer?: unknown) => void) => void;

/** The engine is going: the SDK ends the program without a word. */
const going = { code: status.CANCELLED, details: "resource monitor shut down" };

const answering =
  <Q>(answer: (request: Q) => unknown): Unary =>
  ({ request }: { request: Q }, callback: Parameters<Unary>[1]) =>
    void Promise.resolve(request)
      .then(answer)
      .then(
        (done) => callback(null, done),
        (error: Error) => callback(error instanceof Stopped ? going : { code: status.UNKNOWN, details: error.message }),
      );

function monitorOf(deployment: Deployment): IResourceMonitorServer {
  const calls: Record<string, Unary> = {
    supportsFeature: answering((request: proto.SupportsFeatureRequest) => {
      const response = new proto.SupportsFeatureResponse();
      response.setHassupport(["secrets", "deletedWith", "aliasSpecs"].includes(request.getId()));
      return response;
    }),
    registerResource: answering(async (request: proto.RegisterResourceRequest) => {
      if (request.getRemote()) throw new Error("the double of the engine has no remote components: use the real CLI");
      const made = await deployment.register(await wantedOf(request, deployment));
      const response = new proto.RegisterResourceResponse();
      response.setUrn(made.urn);
      response.setId(made.id);
      response.setObject(struct(made.custom ? made.outputs : {}));
      return response;
    }),
    registerResourceOutputs: answering(() => new Empty()),
    signalAndWaitForShutdown: answering(() => new Empty()),
  };
  return calls as unknown as IResourceMonitorServer;
}

/** @param errors gets what the program logs as an error, which fails the run at its end */
function engineOf({ lines }: Deployment, errors: string[]): IEngineServer {
  let root = "";
  const calls: Record<string, Unary> = {
    log: answering((request: LogRequest) => {
      if (request.getSeverity() === LogSeverity.ERROR) errors.push(request.getMessage());
      else if (request.getSeverity() !== LogSeverity.DEBUG) lines.push(request.getMessage());
      return new Empty();
    }),
    getRootResource: answering(() => {
      const response = new GetRootResourceResponse();
      response.setUrn(root);
      return response;
    }),
    setRootResource: answering((request: { getUrn(): string }) => {
      root = request.getUrn();
      return new SetRootResourceResponse();
    }),
  };
  return calls as unknown as IEngineServer;
}

/** A registration, as the engine takes it. */
async function wantedOf(request: proto.RegisterResourceRequest, deployment: Deployment): Promise<Wanted> {
  const [type, name, parent] = [request.getType(), request.getName(), request.getParent()];
  const custom = request.getCustom();
  const adapter = type.startsWith("consortium:") ? "plugin" : "dynamic";
  const isManaged = custom && !type.startsWith("pulumi:providers:");
  const dependencies = [...request.getPropertydependenciesMap().entries()] as [string, { getUrnsList(): string[] }][];
  const seconds = (text = ""): number => (text === "" ? 0 : durationSeconds(text)!);
  const timeouts = request.getCustomtimeouts();
  return {
    type,
    name,
    parent,
    custom,
    urn: urnOf(type, name, parent),
    dependencies: request.getDependenciesList(),
    provider: isManaged
      ? request.getProvider() || (await deployment.defaultProvider(adapter, request.getVersion()))
      : "",
    additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
    inputs: plain(request.getObject()),
    propertyDependencies: Object.fromEntries(dependencies.map(([key, urns]) => [key, urns.getUrnsList()])),
    deletedWith: request.getDeletedwith(),
    retainOnDelete: request.getRetainondelete() ?? false,
    ignoreChanges: request.getIgnorechangesList(),
    ...(request.getDeletebeforereplacedefined() && { deleteBeforeReplace: request.getDeletebeforereplace() }),
    timeouts: {
      create: seconds(timeouts?.getCreate()),
      update: seconds(timeouts?.getUpdate()),
      delete: seconds(timeouts?.getDelete()),
    },
    aliases: request.getAliasesList().map((alias) => {
      const spec = alias.getSpec();
      if (!spec) return alias.getUrn();
      const above = spec.getNoparent() ? "" : spec.getParenturn() || parent;
      return urnOf(spec.getType() || type, spec.getName() || name, above);
    }),
  };
}

function urnOf(type: string, name: string, parent: string): string {
  const above = parent === "" ? "" : parent.split("::")[2]!;
  const qualified = above === "" || above === "pulumi:pulumi:Stack" ? type : `${above}$${type}`;
  return `urn:pulumi:test::double::${qualified}::${name}`;
}
