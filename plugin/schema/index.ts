import { z } from "zod";
import { environmentName } from "../../provider/api/environment";
import { type SettingName } from "../../provider/api";
import { ownKey } from "../../provider/pulumi/settings";
import { dynamicPrefix, lossWarning } from "../../provider/constants";
import { type Definition, nameKey, type Props } from "../../provider/core/definition";
import { docOf, field, metaOf } from "../../provider/core/field";
import { type Lookup, lookups } from "../../provider/lookups";
import { definitions } from "../../provider/resources";
import { version } from "../../provider/version";
import { Network } from "../../sdk/network/schema";
import { owners } from "../import";
import { listKeys } from "../list";
import { examplesOf } from "./examples";
import { goImport } from "./languages";
import {
  capital,
  type Fields,
  type FunctionSpec,
  type ObjectSpec,
  type PackageSpec,
  type PropertySpec,
  type ResourceSpec,
  token,
  Types,
} from "./types";

/** Metadata of a property in its definition, besides its type. */
function marks(fields: Fields, key: string): Partial<PropertySpec> {
  const { onChange, secret } = metaOf(fields[key]!);
  return {
    ...(onChange?.startsWith("replace") && { replaceOnChanges: true, willReplaceOnChanges: true }),
    ...(secret && { secret: true }),
  };
}

const marked = (fields: Fields, properties: Record<string, PropertySpec>): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(properties).map(([key, spec]) => [key, { ...spec, ...marks(fields, key) }]));

const isOptional = (fields: Fields, key: string): boolean => fields[key]!.safeParse(undefined).success;

/** The arguments. The engine has its own time-outs, so the input of the dynamic provider is not one. */
const argumentsOf = ({ inputs }: Definition): Fields =>
  Object.fromEntries(Object.entries(inputs.shape).filter(([key]) => key !== "customTimeouts"));

/** Arguments that default to the name of the resource. */
const isNamed = (definition: Definition, key: string): boolean => key === nameKey(definition);

/** Whether an existing object always has it. Arguments may be missing if they have no default and no service fills them in. */
function isCertain(definition: Definition, inputs: Fields, key: string): boolean {
  const schema = inputs[key];
  if (!schema || !isOptional(inputs, key) || metaOf(schema).computed) return true;
  return (schema.parse(undefined) as Props | undefined) !== undefined;
}

/** An argument of a list. */
function listInput(key: string): [string, PropertySpec] {
  const { title } = owners[key]!;
  return [key, { type: "string", description: `Id or name of the ${title} to list. Default: every ${title}.` }];
}

function resourceSpec(definition: Definition, types: Types): ResourceSpec {
  const { type, doc } = definition;
  const inputs = argumentsOf(definition);
  const all: Fields = { ...inputs, ...definition.outputs.shape };
  const warning = lossWarning("replace", type);
  const given = types.properties(type, inputs, { io: "input" });
  return {
    description: [doc, ...(warning ? [`> **${warning}.**`] : []), examplesOf(type)].join("\n\n"),
    properties: marked(all, types.properties(type, all, { io: "output", whole: true })),
    required: Object.keys(all).filter((key) => isCertain(definition, inputs, key)),
    inputProperties: marked(inputs, given),
    requiredInputs: Object.keys(inputs).filter((key) => !isOptional(inputs, key) && !isNamed(definition, key)),
    listInputs: { type: "object", properties: Object.fromEntries(listKeys(definition).map(listInput)) },
    aliases: [{ type: dynamicPrefix + type }],
  };
}

/* The component: a whole network in one resource. */

const { appCred, configuration, consortium, consortiumZone, destination } = definitions;
const { environment, environmentZone, invitation, membership, node, service, tetherService } = definitions;

const idOf = (title: string) => field(z.string(), `Id of the ${title}.`);

const output = ({ outputs }: Definition, key: string) => (outputs.shape as Record<string, z.ZodType>)[key]!;

/** An output of a resource, which exists once the network does. */
const shown = (definition: Definition, key: string) => {
  const schema = output(definition, key);
  return field((schema as z.ZodOptional<z.ZodType>).unwrap(), docOf(schema)!);
};

const urls = output(node, "urls") as z.ZodOptional<z.ZodObject>;

/** The outputs of objects of one kind, by key. `note` ends the description of the type, and `doc` describes the property. */
function byKey(kind: string, shape: z.ZodRawShape, { note = "", doc }: { note?: string; doc?: string } = {}) {
  const [word = ""] = /[A-Z][a-z]+$/.exec(kind) ?? [];
  const title = word.toLowerCase();
  const description = `Outputs of ${/^[aeiou]/.test(title) ? "an" : "a"} ${title} of a network${note}.`;
  const objects = z.object(shape).meta({ id: `Network${kind}Outputs`, description });
  return field(z.record(z.string(), objects), doc ?? `${word}s by key.`);
}

const environmentOutputs = {
  id: idOf(environment.title),
  chainId: field(z.int(), "Chain id of the ledger."),
  nodes: byKey("Node", {
    id: idOf(node.title),
    urls: field(urls.unwrap().meta({ id: "NodeUrls" }), docOf(urls)!),
  }),
  credentials: byKey(
    "Credential",
    { username: shown(appCred, "username") },
    { note: "; its password is in `passwords`" },
  ),
  zones: byKey("EnvironmentZone", { id: idOf(environmentZone.title) }),
  configurations: byKey("Configuration", { id: idOf(configuration.title) }),
  services: byKey("Service", {
    id: idOf(service.title),
    urls: output(service, "urls"),
    destinations: byKey("Destination", { uri: output(destination, "uri") }),
  }),
  tether: field(
    z
      .object({ id: idOf(tetherService.title), account: shown(tetherService, "account") })
      .meta({ id: "NetworkTetherOutputs", description: "Outputs of the tether of an environment." })
      .optional(),
    "The tether, if there is one.",
  ),
};

const consortiumOutputs = {
  id: idOf(consortium.title),
  members: byKey("Member", { id: idOf(membership.title) }),
  zones: byKey("ConsortiumZone", { id: idOf(consortiumZone.title) }),
  invitations: byKey("Invitation", { id: idOf(invitation.title) }),
  environments: byKey("Environment", environmentOutputs),
};

const passwords = z.record(z.string(), z.record(z.string(), z.record(z.string(), z.string())));

/** Secrets are a separate property: within another one, components lose the mark. */
const networkOutputs = z.object({
  consortia: byKey("Consortium", consortiumOutputs, {
    doc: "Consortia by key. The key of a single consortium is the name of the network.",
  }),
  // Not marked as secret, or Pulumi's generated Java class would not compile. The component's host marks them.
  passwords: field(passwords, "Passwords by consortium, environment and credential; secret."),
});

function networkSpec(types: Types): ResourceSpec {
  const inputs = Object.fromEntries(Object.entries(Network.shape).filter(([key]) => key !== "name"));
  const outputs = types.object("Network", networkOutputs.shape, { io: "output" });
  return {
    ...outputs,
    description: [
      "A whole network from one definition: consortium, members, environments with their nodes, credentials and tethers, " +
        "zones, configurations, services with their destinations, and invitations. Each part is a resource of its own, named after its keys, so entries can be added, removed and moved without " +
        "affecting others. Everything in the definition must be known at preview: outputs of other resources cannot be part of it.",
      examplesOf("Network"),
    ].join("\n\n"),
    isComponent: true,
    inputProperties: types.properties("Network", inputs, { io: "input" }),
  };
}

/** Pulumi's Python reads an open enum at the top of a function's result as an object: it is text there. */
const withoutEnums = ({ properties = {}, ...spec }: ObjectSpec): ObjectSpec => ({
  ...spec,
  properties: Object.fromEntries(
    Object.entries(properties).map(([key, { oneOf, ...property }]) => [
      key,
      oneOf?.some(({ type }) => type === "string")
        ? { type: "string", ...property }
        : { ...property, ...(oneOf && { oneOf }) },
    ]),
  ),
});

function functionSpec({ name, doc, args, result, list }: Lookup, types: Types): FunctionSpec {
  const owner = capital(name);
  const outputs: ObjectSpec =
    list === undefined
      ? withoutEnums(types.object(owner, (result as z.ZodObject).shape, { io: "output" }))
      : {
          type: "object",
          properties: {
            [list]: { type: "array", items: types.type(owner, result, { io: "output" }), description: doc },
          },
          required: [list],
        };
  return {
    description: `${doc}\n\n${examplesOf(name)}`,
    inputs: types.object(owner, args.shape, { io: "input" }),
    outputs,
  };
}

/** The settings of a provider, as stack configuration and explicit providers have them. */
const settings: Record<SettingName | "adopt", PropertySpec> = {
  apiKey: { type: "string", description: "API key of the organization; kept encrypted in the state.", secret: true },
  region: { type: "string", description: "Region of the service: `us`, `eu`, `ap` or `ko`. Default: `us`." },
  baseUrl: { type: "string", description: "Base address, which ends in `/api/v1`. Default: the region's." },
  maxConcurrency: { type: "integer", description: "Maximum number of requests in flight. Default: 8." },
  requestTimeout: { type: "number", description: "Seconds that one request may take. Default: 30." },
  allowHttp: {
    type: "boolean",
    description:
      "Whether the key may cross a network in clear text, to a base address that begins with `http://`. Default: `false`.",
  },
  organization: {
    type: "string",
    description: "Id of the organization that the key must belong to. Default: the one that the state was made with.",
  },
  log: {
    type: "string",
    description: "File that gets a JSON line for each call to the service, without secrets. Default: none.",
  },
  logLevel: {
    type: "string",
    description:
      "Contents of that file: `errors`, `calls`, `bodies` (calls, with ids, states, times and messages), or `full` (whole bodies, which may hold secrets). Default: `bodies`.",
  },
  adopt: {
    type: "boolean",
    description:
      "Whether every resource adopts the existing object with its name, or creates a new one. Default: `false`.",
  },
};

const withVariables = (mark: (variable: string, spec: PropertySpec) => PropertySpec): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(settings).map(([name, spec]) => [name, mark(environmentName(name), spec)]));

/**
 * SDKs add a constant by themselves. The engine does not, for the provider that it makes from stack configuration. A text, because
 * Pulumi YAML knows no other constants of providers.
 */
const own: PropertySpec = {
  type: "string",
  const: "true",
  description: "Says that a program made this provider. Always `true`; leave it out.",
};

/** Settings of the stack, for the default provider. */
const configSpec = {
  variables: withVariables((variable, spec) => ({ ...spec, defaultInfo: { environment: [variable] } })),
};

/**
 * An explicit provider. The environment variables are not defaults of its arguments: SDKs would write them into the state as if a program
 * had given them, and a key that has changed since would win over the new one.
 */
function providerSpec(): ResourceSpec {
  const inputs = withVariables((variable, spec) => ({
    ...spec,
    description: `${spec.description} Environment variable: \`${variable}\`.`,
  }));
  return {
    description:
      "One organization, with its own key. Resources with this provider are managed with its settings; the others come " +
      "from the environment, then from stack configuration.",
    properties: { ...inputs, [ownKey]: own },
    inputProperties: { ...inputs, [ownKey]: own },
  };
}

/** The names of the SDKs in each language. */
const language = {
  // Not the name of our own package, which has more: both can be in one project.
  nodejs: { packageName: "pulumi-consortium-sdk", respectSchemaVersion: true },
  python: {
    packageName: "pulumi_consortium",
    requires: { pulumi: ">=3.0.0,<4.0.0" },
    pyproject: { enabled: true },
    respectSchemaVersion: true,
  },
  go: {
    importBasePath: goImport,
    generateResourceContainerTypes: true,
    respectSchemaVersion: true,
  },
  csharp: {
    namespaces: { consortium: "Consortium" },
    packageReferences: { Pulumi: "3.*" },
    respectSchemaVersion: true,
  },
  java: {
    basePackage: "com.pulumi",
    buildFiles: "gradle",
    dependencies: {
      "com.pulumi:pulumi": "1.16.0",
      "com.google.code.gson:gson": "2.8.9",
      "com.google.code.findbugs:jsr305": "3.0.2",
    },
  },
};

/** Names of results that do not collide with resources. Languages add `Result` by themselves. */
const resultName = (id: string): string => {
  const name = id.replace(/Result$/, "");
  return Object.values(definitions).some(({ type }) => type === name) ? `Listed${name}` : name;
};

interface About {
  description: string;
  keywords: string[];
  license: string;
  repository?: string | { url: string };
}

/** The schema of the provider plugin, from which the SDKs and docs of all languages are generated. */
export function packageSchema({ description, keywords, license, repository }: About): PackageSpec {
  const url = (typeof repository === "string" ? repository : repository?.url)?.replace(/^git\+|\.git$/g, "");
  const types = new Types(resultName);
  const all = Object.values<Definition>(definitions);
  const resources = {
    ...Object.fromEntries(all.map((definition) => [token(definition.type), resourceSpec(definition, types)])),
    [token("Network")]: networkSpec(types),
  };
  const looks = Object.values<Lookup>(lookups);
  const functions = Object.fromEntries(looks.map((lookup) => [token(lookup.name), functionSpec(lookup, types)]));
  return {
    name: "consortium",
    displayName: "Consortium",
    version,
    description,
    keywords: [...keywords, "category/infrastructure", "kind/native"],
    license,
    ...(url && { homepage: url, repository: url, pluginDownloadURL: `${url}/releases/download/v\${VERSION}` }),
    publisher: "pulumi-consortium",
    meta: { supportPack: true },
    language,
    config: configSpec,
    types: types.specs,
    provider: providerSpec(),
    resources,
    functions,
  };
}
