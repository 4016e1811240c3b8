import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

/**
 * A description of the Pulumi Kubernetes operator 2: only the fields that this project's manifests use. It is narrower than the CRDs,
 * so that a misspelled field never passes.
 */
const label = z.string().regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, "is not a name that Kubernetes takes");
const variable = z.string().regex(/^[A-Za-z_]\w*$/, "is not the name of an environment variable");
const metadata = z.looseObject({ name: label, namespace: label.optional() });
/** The operator calls a Service after it: DNS-1035. Its CRD allows 42 characters. */
const stackMetadata = metadata.extend({
  name: z
    .string()
    .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, "is not a name for a Service")
    .max(42, "has more than 42 characters"),
});

const secretKey = z.strictObject({ name: label, key: z.string().min(1) });
const secret = z.strictObject({ type: z.literal("Secret"), secret: secretKey });
const literal = z.strictObject({ type: z.literal("Literal"), literal: z.strictObject({ value: z.string() }) });
const reference = z.discriminatedUnion("type", [secret, literal]);
const quantities = z.partialRecord(z.enum(["cpu", "memory"]), z.string());

const workspaceSpec = z.strictObject({
  serviceAccountName: label.optional(),
  securityProfile: z.enum(["baseline", "restricted"]).optional(),
  image: z.string(),
  git: z
    .strictObject({
      url: z.string(),
      ref: z.string(),
      dir: z.string().optional(),
      auth: z.strictObject({ token: secretKey }).optional(),
    })
    .optional(),
  env: z.array(z.strictObject({ name: variable, valueFrom: z.strictObject({ secretKeyRef: secretKey }) })).optional(),
  resources: z.strictObject({ requests: quantities, limits: quantities }).optional(),
  stacks: z.array(z.strictObject({ name: z.string(), create: z.boolean().optional() })).optional(),
});

const gitAuth = z.union([
  z.strictObject({ accessToken: secret }),
  z.strictObject({ sshAuth: z.strictObject({ sshPrivateKey: secret, password: secret.optional() }) }),
  z.strictObject({ basicAuth: z.strictObject({ userName: secret, password: secret }) }),
  z.strictObject({
    githubApp: z.strictObject({ appID: secret, installationID: secret, privateKey: secret }),
  }),
]);
const succeeded = z.strictObject({ succeededWithinDuration: z.string() });
const stackSpec = z
  .strictObject({
    stack: z.string(),
    backend: z.url().optional(),
    config: z.record(z.string(), z.string()).optional(),
    secretsProvider: z.string().optional(),
    envRefs: z.record(variable, reference),
    projectRepo: z
      .string()
      .regex(/^(https|ssh):\/\/[^/]+\/[^/]+\/[^/]+/, "is no address that the operator takes")
      .optional(),
    gitAuth: gitAuth.optional(),
    repoDir: z.string().optional(),
    branch: z.string().optional(),
    commit: z.string().optional(),
    programRef: z.strictObject({ name: label }).optional(),
    prerequisites: z.array(z.strictObject({ name: label, requirement: succeeded.optional() })).optional(),
    refresh: z.boolean().optional(),
    continueResyncOnCommitMatch: z.boolean().optional(),
    resyncFrequencySeconds: z.int().min(60).optional(),
    retryMaxBackoffDurationSeconds: z.int().min(1).optional(),
    preview: z.boolean().optional(),
    workspaceReclaimPolicy: z.enum(["Retain", "Delete"]).optional(),
    updateTemplate: z.strictObject({ spec: z.strictObject({ ttlAfterCompleted: z.string() }) }).optional(),
    destroyOnFinalize: z.boolean().optional(),
    serviceAccountName: label.optional(),
    workspaceTemplate: z.strictObject({ spec: workspaceSpec }),
  })
  .refine((spec) => (spec.projectRepo === undefined) !== (spec.programRef === undefined), {
    message: "takes its program from projectRepo or from programRef, and from one of them only",
  })
  .refine((spec) => spec.projectRepo === undefined || (spec.branch === undefined) !== (spec.commit === undefined), {
    message: "needs a branch or a commit, and one of them only",
  });

const program = z.strictObject({
  resources: z.record(
    z.string(),
    z.strictObject({
      type: z.string().min(1),
      properties: z.record(z.string(), z.unknown()),
      options: z.looseObject({}).optional(),
    }),
  ),
  outputs: z.record(z.string(), z.unknown()).optional(),
});

const object = <V extends string, K extends string, S extends z.ZodRawShape>(apiVersion: V, kind: K, rest: S) =>
  z.strictObject({ apiVersion: z.literal(apiVersion), kind: z.literal(kind), metadata, ...rest });
/** Names of roles and role bindings may be any path segment. */
const anyName = z.looseObject({ name: z.string().regex(/^[^/%]+$/) });

const manifest = z.discriminatedUnion("kind", [
  object("pulumi.com/v1", "Stack", { metadata: stackMetadata, spec: stackSpec }),
  object("pulumi.com/v1", "Program", { program }),
  object("auto.pulumi.com/v1alpha1", "Workspace", { spec: workspaceSpec }),
  object("v1", "Namespace", {}),
  object("v1", "ServiceAccount", {}),
  object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", {
    metadata: anyName,
    roleRef: z.strictObject({ apiGroup: z.string(), kind: z.literal("ClusterRole"), name: z.string() }),
    subjects: z.array(z.strictObject({ kind: z.string(), name: label, namespace: label.optional() })),
  }),
]);

/** JSON Schema of a part of a CRD. */
interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
  [key: string]: unknown;
}

/** In Kubernetes' "structural" form: an object may have the fields of all its variants. */
function structural({ additionalProperties: more, oneOf, anyOf = oneOf, ...schema }: Schema): Schema {
  const free = { "x-kubernetes-preserve-unknown-fields": true };
  if (anyOf)
    return structural({
      type: "object",
      properties: Object.assign({}, ...anyOf.map(propertiesIn)) as Schema["properties"],
    });
  if (schema.properties === undefined && typeof more === "object") {
    return { ...schema, additionalProperties: structural(more) };
  }
  const parts = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, structural(part)] as const);
  const isFree = schema.type === undefined || typeof more === "object";
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(parts) }),
    ...(schema.items !== undefined && { items: structural(schema.items as Schema) }),
    ...(isFree && free),
  };
}
/** If each variant names itself (`type`), any text is allowed. */
const propertiesIn = ({ properties = {} }: Schema): Schema["properties"] => ({
  ...properties,
  ...(properties.type && { type: { type: "string" } }),
});

interface Rule {
  rule: string;
  message: string;
}
const crd = (apiVersion: string, kind: string, part: Record<string, z.ZodType>, rules: Rule[] = []) => {
  const [group = "", version = ""] = apiVersion.split("/");
  const plural = `${kind.toLowerCase()}s`;
  const properties = Object.entries(part).map(([name, schema]) => {
    return [name, structural(z.toJSONSchema(schema, { target: "openapi-3.0" }) as Schema)] as const;
  });
  const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const openAPIV3Schema = {
    type: "object",
    properties: { ...Object.fromEntries(properties), status },
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } },
      ],
    },
  };
};

/**
 * The CRDs of a real API server: the operator's own, from the folder that OPERATOR_CRDS names (see CONTRIBUTING.md), or else the same
 * description. Names of 42 characters are the operator's own rule.
 */
const own = process.env.OPERATOR_CRDS;
export const crds = own
  ? readdirSync(own).map((file) => parse(readFileSync(join(own, file), "utf8")) as ReturnType<typeof crd>)
  : [
      crd("pulumi.com/v1", "Stack", { spec: stackSpec }, [
        { rule: "size(self.metadata.name) <= 42", message: "the name has more than 42 characters" },
        { rule: "has(self.spec.projectRepo) != has(self.spec.programRef)", message: "projectRepo or programRef" },
      ]),
      crd("pulumi.com/v1", "Program", { program }),
      crd("auto.pulumi.com/v1alpha1", "Workspace", { spec: workspaceSpec }),
    ];

/** The objects in a file of manifests, as they are written. */
export function documentsIn(text: string): Record<string, unknown>[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const value = document.toJS() as Record<string, unknown> | null;
    return value === null ? [] : [value];
  });
}

const titleOf = ({ kind, metadata: meta }: Record<string, unknown>): string =>
  `${String(kind)} ${(meta as { name?: string } | undefined)?.name ?? "without a name"}`;

/** The problems that the operator would find in a file of manifests: `Stack north: spec.branch …`. Empty if there are none. */
export function complaintsAbout(text: string): string[] {
  return documentsIn(text).flatMap((document) =>
    (manifest.safeParse(document).error?.issues ?? []).map(
      ({ path, message }) => `${titleOf(document)}: ${path.map(String).join(".")}: ${message}`,
    ),
  );
}
