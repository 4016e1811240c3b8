import { type Kind, pluginPrefix } from "../provider/constants";
import { definitions } from "../provider/resources";
import { version } from "../provider/version";

/*
 * The Terraform provider of the same API: its resources and arguments, and their names here. From this follow the mapping that `pulumi
 * convert --from terraform` and `pulumi import --from terraform` ask the plugin for, and docs/reference/terraform.md.
 */

/** Terraform's types, by their numbers in the mapping. */
const types = { bool: 1, int: 2, text: 4, texts: 6 } as const;

export interface TerraformArgument {
  type: keyof typeof types;
  /** required: a configuration has to set it; computed: none can. Default: optional. */
  is?: "required" | "computed";
  secret?: true;
  /** The property here. Default: the same in camel case. "": there is none. */
  to?: string;
  /** In the reference: the equivalent here, if it is not a property with the same value. */
  note?: string;
}

export interface TerraformResource {
  kind: Kind;
  arguments: Record<string, TerraformArgument>;
  /** In the reference: a difference of the whole resource there, and the equivalent here. */
  differs?: [string, string];
}

type Arguments = Record<string, TerraformArgument>;
const each = (names: string, argument: TerraformArgument): Arguments =>
  Object.fromEntries(names.split(" ").map((name) => [name, argument]));
const required = (names: string): Arguments => each(names, { type: "text", is: "required" });
const optional = (names: string): Arguments => each(names, { type: "text" });

const ids = "consortium_id environment_id membership_id";
/** Resources that it takes over if they exist. */
const taking: TerraformArgument = {
  type: "bool",
  to: "adopt",
  note: "`adopt: true`, with the resource option `retainOnDelete`",
};
const json = (to: string, note = `\`${to}\`, an object, or its JSON as text`): TerraformArgument => ({
  type: "text",
  to,
  note,
});
/** An output that is a member of an output here. */
const url = (of: string): TerraformArgument => ({ type: "text", is: "computed", to: `urls.${of}` });
const port: TerraformArgument = { type: "int", is: "computed" };
const trigger: TerraformArgument = {
  type: "text",
  to: "",
  note: "none: changes that need a restart, such as of `size`, trigger it",
};
const sharedZones: [string, string] = [
  "shares an existing zone, never deletes one",
  "`adopt: true`: an adopted zone stays",
];

export const terraformResources: Record<string, TerraformResource> = {
  kaleido_consortium: {
    kind: "consortium",
    arguments: { ...required("name"), ...optional("description"), shared_deployment: taking },
  },
  kaleido_membership: {
    kind: "membership",
    arguments: { ...required("consortium_id org_name"), pre_existing: taking },
  },
  kaleido_czone: {
    kind: "consortiumZone",
    arguments: { ...required("consortium_id region cloud"), ...optional("name type") },
    differs: sharedZones,
  },
  kaleido_invitation: { kind: "invitation", arguments: required("consortium_id org_name email") },
  kaleido_environment: {
    kind: "environment",
    arguments: {
      ...required("consortium_id name consensus_type"),
      env_type: { type: "text", is: "required", to: "provider" },
      ...optional("description release_id"),
      chain_id: { type: "int" },
      block_period: { type: "int" },
      multi_region: { type: "bool" },
      prefunded_accounts: { type: "texts" },
      test_features_json: json("testFeatures", "`testFeatures`, an object, or its JSON as text; a change replaces"),
      shared_deployment: taking,
    },
  },
  kaleido_ezone: {
    kind: "environmentZone",
    arguments: { ...required("consortium_id environment_id region cloud"), ...optional("name type bridge_id") },
    differs: sharedZones,
  },
  kaleido_configuration: {
    kind: "configuration",
    arguments: {
      ...required(`${ids} name type`),
      details: { type: "texts" },
      details_json: json("details", "`details`, an object, or its JSON as text; a secret"),
      last_updated: { type: "int", is: "computed", to: "", note: "none" },
    },
  },
  kaleido_node: {
    kind: "node",
    arguments: {
      ...required(`${ids} name`),
      ...optional("size kms_id opsmetric_id backup_id networking_id node_config_id baf_id role zone_id database_type"),
      first_user_account: { type: "text", is: "computed" },
      hybrid_port_allocation: port,
      remote: { type: "bool", to: "", note: "[`extra`](../lookups.md#fields-without-an-argument)" },
      update_trigger: trigger,
      urls: { type: "texts", is: "computed" },
      https_url: url("rpc"),
      websocket_url: url("wss"),
    },
  },
  kaleido_app_creds: {
    kind: "appCred",
    arguments: {
      ...required(`${ids} name`),
      username: { type: "text", is: "computed" },
      auth_type: { type: "text", is: "computed" },
      password: {
        type: "text",
        is: "computed",
        secret: true,
        note: "`password`, `basicAuthHeader` (encrypted in the state)",
      },
    },
  },
  kaleido_service: {
    kind: "service",
    arguments: {
      ...required(`${ids} name`),
      service_type: { type: "text", is: "required", to: "service" },
      ...optional("zone_id size"),
      details: { type: "texts" },
      details_json: json("details"),
      hybrid_port_allocation: port,
      shared_deployment: { ...taking, note: "`adopt: true`: an adopted utility service stays" },
      update_trigger: trigger,
      urls: { type: "texts", is: "computed" },
      https_url: url("http"),
      websocket_url: url("ws"),
      webui_url: url("webui"),
    },
  },
  kaleido_destination: {
    kind: "destination",
    arguments: {
      ...required("service_type service_id consortium_id membership_id name"),
      kaleido_managed: { type: "bool" },
      idregistry_id: { type: "text", to: "idRegistryId" },
      auto_verify_membership: { type: "bool", to: "testCertificate" },
    },
  },
};

/**
 * Data sources. There is no lookup for this one, which reads `tunneler_config` of a service: with the mapping, a converter says which
 * function is missing, and a program that asks for it is refused by that name.
 */
export const terraformDataSources: Record<string, { lookup: string; arguments: Arguments }> = {
  kaleido_privatestack_bridge: {
    lookup: "getPrivatestackBridge",
    arguments: {
      ...required("consortium_id environment_id service_id"),
      ...optional("appcred_id"),
      appcred_secret: { type: "text", secret: true },
      config_json: { type: "text", is: "computed" },
    },
  },
};

/** The settings of the provider. */
const settings: Arguments = {
  api: { type: "text", to: "baseUrl" },
  api_key: { type: "text", secret: true, to: "apiKey" },
};

const mapped = <T>(table: Record<string, T>, value: (one: T, key: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(table).map(([key, one]) => [key, value(one, key)]));

const shape = ({ type, is, secret }: TerraformArgument): object => ({
  type: types[type],
  ...(is === "required" ? { required: true } : is === "computed" ? { computed: true } : { optional: true }),
  ...(secret && { sensitive: true }),
  ...(type === "texts" && { element: { schema: { type: types.text } } }),
});

/** Names that do not follow from Terraform's. The converter keeps an argument without a counterpart, and the program's check tells of it. */
const renamed = (table: Arguments): Record<string, unknown> => {
  const others = Object.entries(table).filter(([, { to }]) => to);
  return mapped(Object.fromEntries(others), ({ to }) => ({ name: to, typeomitempty: "" }));
};

/** The mapping that Pulumi's converter reads: the form is that of Pulumi's Terraform bridge (`MarshallableProviderInfo`). */
export const terraformMapping = (): object => ({
  name: "consortium",
  version,
  provider: {
    schema: mapped(settings, shape),
    resources: mapped(terraformResources, ({ arguments: table }) => mapped(table, shape)),
    dataSources: mapped(terraformDataSources, ({ arguments: table }) => mapped(table, shape)),
  },
  config: renamed(settings),
  resources: mapped(terraformResources, ({ kind, arguments: table }) => ({
    tok: pluginPrefix + definitions[kind].type,
    fields: renamed(table),
  })),
  dataSources: mapped(terraformDataSources, ({ lookup, arguments: table }) => ({
    tok: pluginPrefix + lookup,
    fields: renamed(table),
  })),
});
