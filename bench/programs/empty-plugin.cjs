/** A provider plugin that does nothing: every resource is as the program asks for it. */
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Server, ServerCredentials } = require("@grpc/grpc-js");
const proto = require("@pulumi/pulumi/proto/provider_pb");
const { ResourceProviderService } = require("@pulumi/pulumi/proto/provider_grpc_pb");
const { PluginInfo } = require("@pulumi/pulumi/proto/plugin_pb");

const schema = join(__dirname, "../../schemas/schema.json");
const { version } = JSON.parse(readFileSync(schema, "utf8"));

/** @typedef {import("google-protobuf/google/protobuf/struct_pb").Struct} Struct */
/** @typedef {{ getNews(): Struct, getProperties(): Struct, getPreview(): boolean }} Request */
/** @type {Record<string, (request: Request) => object>} */
const answers = {
  handshake: () => new proto.ProviderHandshakeResponse().setAcceptSecrets(true),
  getPluginInfo: () => new PluginInfo().setVersion(version),
  getSchema: () => new proto.GetSchemaResponse().setSchema(readFileSync(schema, "utf8")),
  checkConfig: (request) => new proto.CheckResponse().setInputs(request.getNews()),
  configure: () => new proto.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true),
  check: (request) => new proto.CheckResponse().setInputs(request.getNews()),
  create: (request) =>
    new proto.CreateResponse().setId(request.getPreview() ? "" : "made").setProperties(request.getProperties()),
};

const server = new Server();
const calls = Object.entries(answers).map(([name, answer]) => [
  name,
  /** @type {import("@grpc/grpc-js").handleUnaryCall<Request, object>} */ (
    ({ request }, callback) => callback(null, answer(request))
  ),
]);
server.addService(ResourceProviderService, Object.fromEntries(calls));
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => process.stdout.write(`${port}\n`));
