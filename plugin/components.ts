import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { type ConstructRequest, type ConstructResponse } from "@pulumi/pulumi/proto/provider_pb";
import { secretsKey } from "../provider/constants";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { type Props } from "../provider/core/definition";
import { UserError } from "../provider/errors";
import { fromEngine, hasUnknown, toEngine } from "./properties";

/** With this argument, a second process of this file serves only components. */
export const componentsArgument = "components";

const unfinished = "it is not complete, because the run ended early: the other errors say why.";

function refuseUnknown(type: string, name: string, inputs: Props): void {
  const open = Object.keys(inputs).filter((key) => hasUnknown(inputs[key]));
  if (open.length === 0) return;
  throw new UserError(
    "invalid-argument",
    `${type} ${name}: write ${open.join(", ")} as a plain value. It cannot be known before the run has created other resources, and ` +
      "everything in the definition of a network must be known at preview.",
  );
}

/**
 * Components register resources with the engine, which takes all of Pulumi's SDK. Their process starts with the first one, so
 * that nobody else waits for it.
 */
export class Components {
  #client?: Promise<ResourceProviderClient>;
  /** Each rejects one that is under way. */
  readonly #open = new Set<() => void>();

  constructor(private readonly engineAddress: () => string | undefined) {}

  async construct(request: ConstructRequest): Promise<ConstructResponse> {
    refuseUnknown(request.getType(), request.getName(), request.getInputs()?.toJavaScript() ?? {});
    const { props, paths } = fromEngine(request.getInputs());
    // Pulumi's SDK would treat a whole property as secret if a part of it is secret.
    request.setInputs(toEngine({ ...props, ...(paths.length > 0 && { [secretsKey]: paths }) }));
    const client = await (this.#client ??= this.#start());
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(new UserError("step-failed", unfinished));
      this.#open.add(leave);
      client.construct(request, (error: ServiceError | null, response) => {
        this.#open.delete(leave);
        return error ? reject(error) : resolve(response);
      });
    });
  }

  /**
   * Call when the engine is about to leave. After a failure it waits for no component, and reports each as an error, next to the real one:
   * if not in these words, then in gRPC's. Outputs without values would be no answer, because the program would go on with them.
   */
  leave(): void {
    for (const leave of this.#open) leave();
  }

  async #start(): Promise<ResourceProviderClient> {
    const { isSea } = process.getBuiltinModule("node:sea") ?? {};
    const script = isSea?.() ? [] : process.argv.slice(1, 2); // a single executable is its own script
    const child = spawn(process.execPath, [...script, componentsArgument, this.engineAddress() ?? ""], {
      env: { ...processEnvironment(), [environmentName("plugin")]: "true" },
      // It ends with its input, which stays open while this process lives.
      stdio: ["pipe", "pipe", "inherit"],
    });
    const port = await portOf(child);
    child.stdout.pipe(process.stdout);
    return new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  }
}

async function portOf(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the process for components ended with ${String(code)}`);
  });
  const [port] = (await Promise.race([once(lines, "line"), ended])) as [string];
  lines.close();
  return port;
}
