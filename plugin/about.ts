import { type handleUnaryCall } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import { GetSchemaResponse, ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { version } from "../provider/version";

/* The plugin's description of itself. The engine may start a plugin for this alone, so this loads nothing else. */

export function handshake(): ProviderHandshakeResponse {
  const response = new ProviderHandshakeResponse();
  response.setAcceptSecrets(true);
  response.setSupportsAutonamingConfiguration(true);
  return response;
}

const getPluginInfo: handleUnaryCall<unknown, PluginInfo> = (_, answer) => {
  const info = new PluginInfo();
  info.setVersion(version);
  answer(null, info);
};

const getSchema: handleUnaryCall<unknown, GetSchemaResponse> = (_, answer) =>
  void import("../schemas/schema.json").then(({ default: schema }) => {
    const response = new GetSchemaResponse();
    response.setSchema(JSON.stringify(schema));
    answer(null, response);
  }, answer);

export const about = { getPluginInfo, getSchema };
