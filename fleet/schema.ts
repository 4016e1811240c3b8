import { z } from "zod";
import { regions, mapping } from "pulumi-consortium/internal/fleet";

/* The form of a fleet file, and the fleet that file.ts makes of it. */

const nameText = 'a name must have at most 60 letters, digits, ".", "_" and "-", and begin with a letter or a digit';
const name = z
  .string({ error: "a name must be text" })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, nameText)
  .max(60, nameText);

const text = (what: string) => z.string({ error: `${what} must be text` }).min(1, `${what} must not be empty`);

const neverInClear = (what: string) =>
  `${what} must not be written into this file. Say where it is: { env: NAME_OF_A_VARIABLE } or { command: [program, argument, …] }`;

/** Where a secret comes from: an environment variable, or the output of a program. */
const secret = (what: string) =>
  z
    .strictObject(
      {
        env: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable")
          .optional(),
        command: z
          .array(z.string({ error: "an argument must be text" }), "command must be a list: program, arguments")
          .min(1, "command must name a program")
          .optional(),
      },
      { error: neverInClear(what) },
    )
    .refine(({ env, command }) => (env === undefined) !== (command === undefined), neverInClear(what));

export type SecretSource = z.infer<ReturnType<typeof secret>>;

const list = (what: string, entry: z.ZodType<string>) => z.array(entry, { error: `${what} must be a list` });

const stackSettings = mapping("a stack", {
  definition: text("definition").optional(),
  program: text("program").optional(),
  name: name.optional(),
  adopt: z.boolean({ error: "adopt must be true or false" }).default(false),
  /** Names of stacks that must finish first. */
  dependsOn: list("dependsOn", text("the name of a stack")).default([]),
  /** Additional files and folders of the stack. */
  paths: list("paths", text("a path")).default([]),
});

const stack = z
  .union([text("a stack"), stackSettings], {
    error: "a stack must be the name of a network file, or a mapping with definition or program",
  })
  .transform((given) => (typeof given === "string" ? stackSettings.parse({ definition: given }) : given));

const most = "maxConsortia must be a whole number from 0";

const organization = mapping("an organization", {
  apiKey: secret("an API key"),
  region: z.enum(regions, { error: `region must be one of ${regions.join(", ")}` }).optional(),
  baseUrl: text("baseUrl").optional(),
  organization: text("organization").optional(),
  allowHttp: z.boolean({ error: "allowHttp must be true or false" }).optional(),
  /** Maximum number of consortia of all its stacks; replaces the service's limit. */
  maxConsortia: z.number({ error: most }).int(most).min(0, most).optional(),
  stacks: z.record(name, stack, { error: "stacks must be a mapping of names to network files" }),
});

const packSettings = mapping("a policy pack", { path: text("path"), config: text("config").optional() });

const policyPack = z
  .union([text("a policy pack"), packSettings], {
    error: "a policy pack must be a folder, or a mapping with path and config",
  })
  .transform((given) => (typeof given === "string" ? { path: given, config: undefined } : given));

const label = (what: string) =>
  text(what).regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    `${what} must have only lower case letters, digits and hyphens, and begin and end with a letter or digit`,
  );

const quantities = (what: string) =>
  mapping(what, {
    cpu: text("cpu")
      .regex(/^[\d.]+m?$/, "cpu must be a quantity such as 250m or 1.5")
      .optional(),
    memory: text("memory")
      .regex(/^[\d.]+([KMGT]i?)?$/, "memory must be a quantity such as 512Mi")
      .optional(),
  });

/** The kinds of repository access that the operator supports, with the keys of their Secret. */
export const gitAccess = {
  token: ["accessToken"],
  ssh: ["sshPrivateKey"],
  basic: ["userName", "password"],
  githubApp: ["appID", "installationID", "privateKey"],
} as const;
const oneAccess = `auth must name one Secret: { ${Object.keys(gitAccess).join(" | ")}: name }`;

const git = mapping("git", {
  /** The form that the operator accepts: https or ssh, with owner and name. */
  repository: text("repository").regex(
    /^(https|ssh):\/\/[^/]+\/[^/]+\/[^/]+/,
    "repository must be an address with https:// or ssh://, with owner and name, such as https://git.example.com/trade/networks.git",
  ),
  branch: text("branch").optional(),
  commit: z
    .string({ error: "commit must be text" })
    .regex(/^[0-9a-f]{40}$/, "commit must be the whole id, of 40 hexadecimal digits")
    .optional(),
  folder: text("folder").default("."),
  auth: z
    .strictObject(
      { token: label("token"), ssh: label("ssh"), basic: label("basic"), githubApp: label("githubApp") },
      { error: oneAccess },
    )
    .partial()
    .refine((given) => Object.keys(given).length === 1, oneAccess)
    .optional(),
});

const kubernetes = mapping("kubernetes", {
  /** Each organization's namespace is this one, a hyphen and its name. */
  namespace: label("namespace").default("consortium"),
  serviceAccount: label("serviceAccount").default("consortium-fleet"),
  /** Your own image has the provider plugin, so that networks become Programs. */
  image: text("image").optional(),
  /** A Secret that all stacks share: passphrase, and backend address or access token. */
  secret: label("secret").default("consortium-fleet"),
  /** Resources of each workspace's pod. */
  resources: mapping("resources", {
    requests: quantities("requests").default({ cpu: "250m", memory: "512Mi" }),
    limits: quantities("limits").default({ cpu: "1", memory: "1Gi" }),
  }).prefault({}),
  git: git.optional(),
});

const count = "parallel must be a whole number from 1 to 64";
const parallel = z.number({ error: count }).int(count).min(1, count).max(64, count).optional();

export const FleetFile = mapping("a fleet", {
  project: name.optional(),
  id: text("id").max(200, "id must have at most 200 characters").optional(),
  parallel,
  concurrency: parallel, // an earlier name
  backend: z
    .string({ error: "backend must be text" })
    .regex(
      /^[a-z0-9]+:\/\//,
      "backend must be an address such as file://./state, s3://bucket or https://api.pulumi.com",
    )
    .optional(),
  secretsProvider: text("secretsProvider").optional(),
  passphrase: secret("a passphrase").optional(),
  policyPacks: z.array(policyPack, { error: "policyPacks must be a list of folders" }).default([]),
  organizations: z.record(name, organization, { error: "organizations must be a mapping of names to organizations" }),
  kubernetes: kubernetes.prefault({}),
}).refine((given) => given.parallel === undefined || given.concurrency === undefined, {
  path: ["concurrency"],
  error: "leave it out: it is an earlier name of parallel, which is set",
});

export type FleetDefinition = z.infer<typeof FleetFile>;

/** An organization of the file. `organization` is the id of the organization that its key must belong to. */
export interface Organization extends Omit<FleetDefinition["organizations"][string], "stacks"> {
  name: string;
}

/** Its paths are absolute. Either `definition` (a network file) or `program` (a folder) is set. */
export interface FleetStack extends Omit<z.infer<typeof stackSettings>, "name"> {
  /** Name of the Pulumi stack: `<organization>-<name in the file>`. */
  name: string;
  organization: Organization;
  /** Name of the network. Default: the name in its file. */
  network?: string;
  /** Its place in the file. */
  place: string[];
}

/** The folder, and a file for `--policy-pack-config`. */
export type PolicyPack = z.infer<typeof packSettings>;

/**
 * The file with its defaults and with absolute paths. Without `backend`, PULUMI_BACKEND_URL applies, or the backend where the user is
 * logged in.
 */
export interface Fleet extends Omit<FleetDefinition, "organizations" | "parallel" | "concurrency"> {
  /** As on the command line. */
  file: string;
  /** The folder of the file, absolute: paths in the file are relative to it. */
  folder: string;
  project: string;
  parallel: number;
  organizations: Organization[];
  stacks: FleetStack[];
}

/** A name with all names that its links lead to. */
export function reached(from: string, linksOf: (name: string) => readonly string[]): Set<string> {
  const found = new Set([from]);
  for (const name of found) linksOf(name).forEach((one) => found.add(one));
  return found;
}
