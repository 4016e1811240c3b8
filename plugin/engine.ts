import { credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

/** How a line is shown: for good among the diagnostics, or in the resource's row until the next one. */
export type Weight = "info" | "warning" | "passing";

/** The engine, as far as a plugin talks to it. */
export class Engine {
  readonly #client: EngineClient;

  constructor(readonly address: string) {
    this.#client = new EngineClient(address, credentials.createInsecure());
  }

  /** Shows a line in the row of a resource; of the whole run without a URN. An engine that is gone hears nothing any more. */
  async show(message: string, weight: Weight, urn = ""): Promise<void> {
    const request = new LogRequest();
    request.setSeverity(weight === "warning" ? LogSeverity.WARNING : LogSeverity.INFO);
    request.setMessage(message);
    request.setUrn(urn);
    request.setEphemeral(weight === "passing");
    await new Promise<void>((resolve) => this.#client.log(request, () => resolve()));
  }
}
