import { z } from "zod";
import { regions } from "../../provider/api";
import { mapping } from "../../sdk/yaml/shape";

/* The form of a fleet file; what it means, and what else has to hold, is in file.ts. */

const nameText = 'a name has at most 60 letters, digits, ".", "_" and "-", and begins with a letter or a digit';
const name = z
  .string({ error: "a name must be text" })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, nameText)
  .max(60, nameText);

const text = (what: string) => z.string({ error: `${what} must be text` }).min(1, `${what} is empty`);

const neverInClear = (what: string) =>
  `${what} is never written into this file: say where it is, { env: NAME_OF_A_VARIABLE } or { command: [program, argument, …] }`;

/** Where a secret is: an environment variable of the run, or what a program prints. */
const secret = (what: string) =>
  z
    .strictObject(
      {
        env: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "this is not the name of an environment variable")
          .optional(),
        command: z
          .array(z.string({ error: "an argument must be text" }))
          .min(1, "it names no program")
          .optional(),
      },
      { error: neverInClear(what) },
    )
    .refine(({ env, command }) => (env === undefined) !== (command === undefined), neverInClear(what));

export type SecretSource = z.infer<ReturnType<typeof secret>>;

const stack = z.union(
  [
    text("a stack"),
    mapping("a stack", {
      definition: text("definition").optional(),
      program: text("program").optional(),
      name: name.optional(),
      adopt: z.boolean({ error: "adopt must be true or false" }).optional(),
    }),
  ],
  { error: "a stack is the name of a network file, or a mapping with definition or program" },
);

const organization = mapping("an organization", {
  apiKey: secret("an API key"),
  region: z.enum(regions, { error: `a region is one of ${regions.join(", ")}` }).optional(),
  baseUrl: text("baseUrl").optional(),
  organization: text("organization").optional(),
  allowHttp: z.boolean({ error: "allowHttp must be true or false" }).optional(),
  stacks: z.record(name, stack, { error: "stacks is a mapping of names to network files" }),
});

const kubernetes = mapping("kubernetes", {
  namespace: text("namespace").optional(),
  serviceAccount: text("serviceAccount").optional(),
  image: text("image").optional(),
  secret: text("secret").optional(),
  git: mapping("git", {
    repository: text("repository"),
    branch: text("branch").optional(),
    commit: text("commit").optional(),
    folder: text("folder").optional(),
  }).optional(),
});

const count = "concurrency is the maximum number of parallel stacks, from 1 to 64";

export const FleetFile = mapping("a fleet", {
  project: name.optional(),
  id: text("id").max(200, "an id has at most 200 characters").optional(),
  concurrency: z.number({ error: count }).int(count).min(1, count).max(64, count).optional(),
  backend: z
    .string({ error: "backend must be text" })
    .regex(/^[a-z0-9]+:\/\//, "a backend is an address such as file://./state, s3://bucket or https://api.pulumi.com")
    .optional(),
  secretsProvider: text("secretsProvider").optional(),
  passphrase: secret("a passphrase").optional(),
  organizations: z.record(name, organization, { error: "organizations is a mapping of names to organizations" }),
  kubernetes: kubernetes.optional(),
});

export type FleetDefinition = z.infer<typeof FleetFile>;
