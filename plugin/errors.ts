import { Metadata, type ServerErrorResponse, status } from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import { type Struct } from "google-protobuf/google/protobuf/struct_pb";
import { printableLines } from "../provider/api/printable";
import { type Incomplete, messageOf } from "../provider/core/user-error";

/** The engine takes an error without a code for a crash of the plugin. */
const code = status.FAILED_PRECONDITION;

/** An error as the engine shows it: the message, and nothing of the inside of this package. */
export function refusal(error: unknown): Partial<ServerErrorResponse> {
  return { code, details: printableLines(messageOf(error)) };
}

/** An object that exists, but is not ready: the engine keeps its id and state, and the next `up` goes on. */
export function notReady(error: Incomplete, properties: Struct): Partial<ServerErrorResponse> {
  const shown = refusal(error);
  const failed = new ErrorResourceInitFailed();
  failed.setId(error.id);
  failed.setProperties(properties);
  failed.setReasonsList([shown.details!]);
  const detail = new Any();
  detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const details = new Status();
  details.setCode(code);
  details.setMessage(shown.details!);
  details.addDetails(detail);
  const metadata = new Metadata();
  metadata.set("grpc-status-details-bin", Buffer.from(details.serializeBinary()));
  return { ...shown, metadata };
}
