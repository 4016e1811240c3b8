import { createHash } from "node:crypto";
import { join, posix, relative } from "node:path";
import {
  check,
  counted,
  groupBy,
  partsOf,
  type Problem,
  programConfig,
  programFiles,
  readNetwork,
  yamlForAll,
  yamlProgram,
} from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack, gitAccess, type Organization } from "./schema";
import { sdkVersion } from "./project";
import { connectionVariables } from "./secrets";

/* The fleet as manifests of the Pulumi Kubernetes operator, version 2. For the mapping, see the table in docs/reference/fleet.md. */

/** The default folder of `--out`, next to the fleet file. */
export const defaultOut = "operator";
export const programFolder = "program";
export const previewFolder = "preview";

/** The operator makes names of up to 63 characters from it. */
const longestStack = 42;
const longestName = 63;
const hourly = 3600;
/** Spreads stacks that start together: each interval differs by up to this much. */
const staggered = 600;
const ownImage = "pulumi/pulumi:3.276.0-nonroot";

type Manifest = Record<string, unknown>;

export interface ManifestOptions {
  /** Turns each network file into a `Program`, instead of one program that reads them all. Default: if the image has the plugin. */
  programs?: boolean;
  /** Adds Stacks that only preview. */
  previews?: boolean;
}

const hashOf = (name: string): string => createHash("sha256").update(name).digest("hex");

/**
 * A name that is also valid for a Kubernetes Service: letters, digits and hyphens, starting with a letter. Other or longer names are
 * shortened, and end with part of their hash.
 */
export function kubernetesName(name: string, most = longestName): string {
  if (name.length <= most && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return name;
  const end = `-${hashOf(name).slice(0, 8)}`;
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "");
  return (plain.slice(0, most - end.length).replace(/-+$/, "") || "stack") + end;
}

export const stackName = ({ name }: FleetStack): string => kubernetesName(name, longestStack);
export const previewName = ({ name }: FleetStack): string => kubernetesName(`${name}-preview`, longestStack);

/** Each organization has its own namespace, so that nobody in it can read the keys of the others. */
export const namespaceOf = ({ kubernetes }: Fleet, { name }: Organization): string =>
  kubernetesName(`${kubernetes.namespace}-${name}`);

/**
 * The namespace of its previews of Programs. The operator names a project after its Program, so a preview sees the real state only
 * through a Program with the same name.
 */
const previewNamespaceOf = ({ kubernetes }: Fleet, { name }: Organization): string =>
  kubernetesName(`${kubernetes.namespace}-${name}-preview`);

/** The Secret with the key of an organization. */
const secretOf = ({ name }: Organization): string => kubernetesName(`consortium-${name}`);

const isProgram = (fleet: Fleet, { definition }: FleetStack, { programs }: ManifestOptions): boolean =>
  definition !== undefined && (programs ?? fleet.kubernetes.image !== undefined);

/* Limits of the operator. */

/** The parts of a fleet file that cannot become manifests. */
export function problemsForOperator(fleet: Fleet, out: string, options: ManifestOptions): Problem[] {
  const { policyPacks, stacks, backend, kubernetes, file } = fleet;
  const problems: Problem[] = [];
  const refuse = (path: Problem["path"], message: string, atKey?: boolean) => problems.push({ path, message, atKey });
  if (policyPacks.length > 0)
    refuse(
      ["policyPacks"],
      "the operator runs no policy packs: remove them from this file, and check them in a pipeline before the merge, with " +
        `\`consortium fleet preview ${file}\` and a --policy-pack <folder> for each`,
      true,
    );
  if (backend?.startsWith("file:") === true)
    refuse(
      ["backend"],
      "each pod would lose its state with this backend: set one that the cluster can reach, such as s3://…",
    );
  const { git } = kubernetes;
  const fromGit = stacks.filter((stack) => !isProgram(fleet, stack, options));
  if (git === undefined && fromGit.length > 0)
    refuse(
      ["kubernetes"],
      `the operator cannot find ${fromGit[0]!.definition ?? fromGit[0]!.program}: add kubernetes: { git: { repository: ` +
        "https://…, branch: main } }, or, for network files, image: one with the provider plugin",
    );
  if (git && options.previews && fromGit.length > 0 && git.commit === undefined)
    refuse(
      ["kubernetes", "git"],
      "a branch is applied before anybody can read its preview: add the commit to apply; previews follow the branch",
    );
  for (const stack of git ? fromGit : [])
    for (const key of ["program", "definition"] as const)
      if (stack[key] !== undefined && inRepository(fleet, stack[key]).startsWith("../"))
        refuse(
          [...stack.place, key],
          `${stack[key]} is not in the repository: kubernetes.git.folder must be the folder of this file`,
        );
  if (git && posix.join(git.folder, slashes(relative(fleet.folder, out))).startsWith("../"))
    refuse(["kubernetes", "git"], `${out} is not in the repository: name a folder in it with --out`);
  problems.push(...dependenciesBetween(fleet), ...twins(fleet));
  if (hasOwnPreviews(fleet, options)) problems.push(...twinNamespaces(fleet));
  return problems;
}

const twinNamespaces = (fleet: Fleet): Problem[] => {
  const previews = new Map(fleet.organizations.map((one) => [previewNamespaceOf(fleet, one), one.name]));
  return fleet.organizations.flatMap(({ name, ...rest }) => {
    const other = previews.get(namespaceOf(fleet, { name, ...rest }));
    const message = `its namespace would also be that of the previews of ${other}: rename one of them`;
    return other === undefined ? [] : [{ path: ["organizations", name], message, atKey: true }];
  });
};

/** The operator looks for prerequisites in the Stack's own namespace. */
const dependenciesBetween = ({ stacks }: Fleet): Problem[] =>
  stacks.flatMap(({ dependsOn, place, organization }) =>
    dependsOn.flatMap((name, at) => {
      const other = stacks.find((one) => one.name === name)!.organization;
      const message =
        `the operator cannot wait for a stack in another organization's namespace: run ${name} and this stack ` +
        "with `fleet up`, or apply the manifests of one after the other, without this line";
      return other.name === organization.name ? [] : [{ path: [...place, "dependsOn", at], message }];
    }),
  );

function twins(fleet: Fleet): Problem[] {
  const named = fleet.stacks.flatMap((stack) => [
    { stack, name: stackName(stack) },
    { stack, name: previewName(stack) },
  ]);
  return [...groupBy(named, ({ name }) => name)].flatMap(([name, [one, ...others]]) =>
    others.map(({ stack }) => ({
      path: stack.place,
      message: `in Kubernetes, ${one.stack.name} or its preview would also have the name ${name}: rename one of them`,
      atKey: true,
    })),
  );
}

/* The manifests. */

const fromSecret = (name: string, key: string) => ({ type: "Secret", secret: { name, key } });

const isCloud = ({ backend }: Fleet): boolean => backend?.startsWith("https://") === true;

/** Settings of the backend, and their keys in the Secret: even the address may contain a password. */
function stateKeys(fleet: Fleet): Record<string, string> {
  if (isCloud(fleet)) return { PULUMI_ACCESS_TOKEN: "accessToken" };
  const { secretsProvider = "passphrase", passphrase } = fleet;
  const isNeeded = secretsProvider === "passphrase" || passphrase !== undefined;
  return { PULUMI_BACKEND_URL: "backendUrl", ...(isNeeded && { PULUMI_CONFIG_PASSPHRASE: "passphrase" }) };
}

/** Environment variables that a network file reads: secrets of the organization. */
function variablesOf({ definition: file, network }: FleetStack): string[] {
  if (file === undefined) return [];
  const { name, definition } = readNetwork(file, network);
  const { plan } = check(name, definition, undefined);
  const used = plan ? partsOf(plan).flatMap(({ planned }) => planned.variables ?? []) : [];
  return [...new Set(used.map((one) => one.name))].sort();
}

function references(fleet: Fleet, stack: FleetStack): Manifest {
  const own = secretOf(stack.organization);
  const all: Manifest = {};
  for (const name of variablesOf(stack)) all[name] = fromSecret(own, name);
  for (const [name, key] of Object.entries(stateKeys(fleet))) all[name] = fromSecret(fleet.kubernetes.secret, key);
  for (const [name, value] of Object.entries(connectionVariables(stack)))
    all[name] = { type: "Literal", literal: { value } };
  return { ...all, CONSORTIUM_API_KEY: fromSecret(own, "apiKey") };
}

const slashes = (path: string): string => path.replaceAll("\\", "/");
const inRepository = ({ kubernetes, folder }: Fleet, path: string): string =>
  posix.join(kubernetes.git?.folder ?? ".", slashes(relative(folder, path)));

/** The label of a fleet's manifests. */
const metadataOf = (fleet: Fleet, name: string, namespace: string): Manifest => ({
  name,
  namespace,
  labels: labelsOf(fleet),
  ...(fleet.id !== undefined && { annotations: { "consortium-fleet/id": fleet.id } }),
});
export const labelsOf = ({ project }: Fleet): Record<string, string> => ({
  "app.kubernetes.io/managed-by": "consortium-fleet",
  "app.kubernetes.io/part-of": kubernetesName(project),
});

/*
 * The operator writes each new Stack back: durations and quantities in their shortest form, and nothing that is `false`. Manifests with
 * another form of them would differ from the cluster, and the next unchanged `kubectl apply` would run the whole fleet again.
 */

/** Quantities as the operator writes them: `1000m` is `1`, and `1.5Gi` is `1536Mi`. */
const asWritten = (quantities: Record<string, string | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(quantities).map(([key, value]) => [key, value && shortest(value)]));

function shortest(quantity: string): string {
  const [, digits = "", unit = ""] = /^([\d.]+)(.*)$/.exec(quantity) ?? [];
  const [base, units] = unit.endsWith("i")
    ? [1024, ["", "Ki", "Mi", "Gi", "Ti"]]
    : [1000, ["m", "", "k", "M", "G", "T"]];
  let [amount, at] = [Number(digits), units.indexOf(unit)];
  if (at < 0 || Number.isNaN(amount)) return quantity;
  for (; !Number.isInteger(amount) && at > 0; at--) amount = Number((amount * base).toFixed(6));
  for (; amount !== 0 && amount % base === 0 && at < units.length - 1; at++) amount /= base;
  return Number.isInteger(amount) ? `${amount}${units[at]}` : quantity;
}

function stackManifest(fleet: Fleet, stack: FleetStack, metadata: Manifest, source: Manifest): Manifest {
  const { serviceAccount, image = ownImage } = fleet.kubernetes;
  const { requests, limits } = fleet.kubernetes.resources;
  return {
    apiVersion: "pulumi.com/v1",
    kind: "Stack",
    metadata,
    spec: {
      serviceAccountName: serviceAccount,
      stack: stack.name,
      ...(isCloud(fleet) && { backend: fleet.backend }),
      ...(fleet.secretsProvider !== undefined && { secretsProvider: fleet.secretsProvider }),
      envRefs: references(fleet, stack),
      // Corrects drift every hour. Without destroyOnFinalize, deleting the manifest never deletes a ledger.
      refresh: true,
      continueResyncOnCommitMatch: true,
      resyncFrequencySeconds: hourly + (Number.parseInt(hashOf(stack.name).slice(0, 8), 16) % staggered),
      retryMaxBackoffDurationSeconds: staggered,
      // An idle pod would keep its resources reserved.
      workspaceReclaimPolicy: "Delete",
      workspaceTemplate: { spec: { image, resources: { requests: asWritten(requests), limits: asWritten(limits) } } },
      // An update's outputs are in plain text in a Secret that is deleted with it.
      updateTemplate: { spec: { ttlAfterCompleted: "1h0m0s" } },
      ...source,
    },
  };
}

const prerequisitesOf = ({ dependsOn }: FleetStack, { stacks }: Fleet): { name: string }[] =>
  dependsOn.map((name) => ({ name: stackName(stacks.find((stack) => stack.name === name)!) }));

/** The operator's access to the repository. */
function gitAuth({ auth }: NonNullable<Fleet["kubernetes"]["git"]>): Manifest {
  const [kind, name] = Object.entries(auth ?? {})[0] ?? [];
  if (kind === undefined || name === undefined) return {};
  const keys = gitAccess[kind as keyof typeof gitAccess];
  const all = Object.fromEntries(keys.map((key) => [key, fromSecret(name, key)]));
  const fields = { token: all, ssh: { sshAuth: all }, basic: { basicAuth: all }, githubApp: { githubApp: all } };
  return { gitAuth: fields[kind as keyof typeof gitAccess] };
}

/** A program in a folder of the repository. */
function fromRepository(fleet: Fleet, stack: FleetStack, out: string, isPreview: boolean): Manifest {
  const git = fleet.kubernetes.git!;
  const program = stack.program ?? join(out, programFolder);
  const definition = stack.definition && slashes(relative(program, stack.definition));
  const { repository: projectRepo, branch = "main", commit } = git;
  const config = definition && programConfig(fleet.project, definition, stack.network);
  const at = commit === undefined || isPreview ? { branch } : { commit };
  return { projectRepo, ...gitAuth(git), ...at, repoDir: inRepository(fleet, program), ...(config && { config }) };
}

/** A Stack, and the network itself as a `Program` if that needs no repository. */
function stackFile(fleet: Fleet, stack: FleetStack, out: string, options: ManifestOptions, isPreview = false): string {
  const isOwn = isProgram(fleet, stack, options);
  const namespace = (isPreview && isOwn ? previewNamespaceOf : namespaceOf)(fleet, stack.organization);
  const metadata = metadataOf(fleet, isPreview ? previewName(stack) : stackName(stack), namespace);
  // A preview's log is in its pod.
  const prerequisites = prerequisitesOf(stack, fleet);
  const waits = prerequisites.length > 0 ? { prerequisites } : {};
  const more = isPreview ? { preview: true, workspaceReclaimPolicy: "Retain" } : waits;
  if (!isOwn)
    return documents([
      stackManifest(fleet, stack, metadata, { ...fromRepository(fleet, stack, out, isPreview), ...more }),
    ]);
  const name = stackName(stack);
  const program = {
    apiVersion: "pulumi.com/v1",
    kind: "Program",
    metadata: metadataOf(fleet, name, namespace),
    program: yamlProgram(stack.definition!, stack.network),
  };
  // Prerequisites wait for a new generation of a Stack, not of its Program.
  const value = hashOf(yamlForAll(program.program));
  const envRefs = { ...references(fleet, stack), PROGRAM_DIGEST: { type: "Literal", literal: { value } } };
  return documents([program, stackManifest(fleet, stack, metadata, { programRef: { name }, envRefs, ...more })]);
}

/** A namespace for each organization. Workspaces ask the cluster whether a call comes from the operator. */
function accessManifests(fleet: Fleet, of = namespaceOf): Manifest[] {
  const { serviceAccount: name } = fleet.kubernetes;
  return fleet.organizations.flatMap((organization) => {
    const namespace = of(fleet, organization);
    return [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: labelsOf(fleet) } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name: `${namespace}:${name}:system:auth-delegator` },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:auth-delegator" },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
    ];
  });
}
const rbac = "rbac.authorization.k8s.io";

/** Whether previews of Programs need namespaces of their own. */
const hasOwnPreviews = (fleet: Fleet, options: ManifestOptions): boolean =>
  options.previews === true && fleet.stacks.some((stack) => isProgram(fleet, stack, options));

const documents = (manifests: readonly Manifest[]): string => manifests.map(yamlForAll).join("---\n");

/**
 * The same fleet for the Pulumi Kubernetes operator: texts by file name. They refer to secrets and do not contain them.
 * @param fleet without `problemsForOperator`
 * @param out the absolute folder of the files
 */
export function fleetManifests(fleet: Fleet, out: string, options: ManifestOptions = {}): Record<string, string> {
  const files: Record<string, string> = { "access.yaml": documents(accessManifests(fleet)) };
  const { stacks } = fleet;
  for (const stack of stacks) files[`${stackName(stack)}.yaml`] = stackFile(fleet, stack, out, options);
  for (const stack of options.previews ? stacks : [])
    files[`${previewFolder}/${previewName(stack)}.yaml`] = stackFile(fleet, stack, out, options, true);
  if (hasOwnPreviews(fleet, options))
    files[`${previewFolder}/access.yaml`] = documents(accessManifests(fleet, previewNamespaceOf));
  const isShared = stacks.some((stack) => stack.definition !== undefined && !isProgram(fleet, stack, options));
  for (const [name, text] of Object.entries(isShared ? programFiles(fleet.project, sdkVersion()) : {}))
    files[`${programFolder}/${name}`] = text;
  return files;
}

/** The required Secrets and their keys, by namespace. */
export function neededSecrets(fleet: Fleet, options: ManifestOptions = {}): string[] {
  const { secret, git } = fleet.kubernetes;
  const access = Object.entries(git?.auth ?? {}).map(
    ([kind, name]) => `${name} with ${gitAccess[kind as keyof typeof gitAccess].join(" and ")}`,
  );
  const namespaces = hasOwnPreviews(fleet, options) ? [namespaceOf, previewNamespaceOf] : [namespaceOf];
  return fleet.organizations.flatMap((organization) => {
    const own = fleet.stacks.filter((stack) => stack.organization === organization);
    const keys = ["apiKey", ...new Set(own.flatMap(variablesOf))];
    const all = [
      `${secret} with ${Object.values(stateKeys(fleet)).join(" and ")}`,
      `${secretOf(organization)} with ${keys.join(" and ")}`,
      ...access,
    ];
    return namespaces.flatMap((of) => all.map((text) => `${of(fleet, organization)}: ${text}`));
  });
}

/** Notes for readers of the manifests. */
export function manifestRemarks(fleet: Fleet, options: ManifestOptions): string[] {
  const { stacks, parallel, kubernetes } = fleet;
  const { git } = kubernetes;
  const remarks: string[] = [];
  const programs = stacks.filter((stack) => isProgram(fleet, stack, options));
  if (programs.length > 0 && fleet.kubernetes.image === undefined)
    remarks.push(
      `${ownImage} lacks the provider plugin: set kubernetes.image to an image with it, as docs/fleet.md says.`,
    );
  if (programs.length > 0)
    remarks.push(
      `${counted(programs.length, "network is a Program", "networks are Programs")}, whose state \`fleet up\` does not share.`,
    );
  for (const stack of stacks)
    if (stack.program !== undefined)
      remarks.push(
        `${stack.name}: if its program exports a password, it can be read for an hour after each update, in the Secret ` +
          `${stackName(stack)}-…-stack-outputs of ${namespaceOf(fleet, stack.organization)}.`,
      );
  if (git && git.commit === undefined && stacks.some((one) => one.dependsOn.length > 0 && !programs.includes(one)))
    remarks.push(
      "dependsOn holds at the first apply: later, the operator finds each commit of a branch for each Stack by itself. " +
        "For the same order at every change, add kubernetes.git.commit.",
    );
  const late = stacks.flatMap((stack) => {
    const own = stackName(stack);
    return prerequisitesOf(stack, fleet)
      .map(({ name }) => name)
      .filter((name) => name > own);
  });
  if (late.length > 0)
    remarks.push(
      `kubectl applies files by name: first apply ${[...new Set(late)].map((name) => `${name}.yaml`).join(" and ")}, ` +
        "which others wait for.",
    );
  if (parallel !== 4)
    remarks.push(
      "parallel applies to `fleet up`: the operator starts a pod for every changed Stack at once. Waves with dependsOn limit that.",
    );
  if (stacks.some(({ paths }) => paths.length > 0))
    remarks.push("paths apply to --changed-since: the operator runs every Stack at each commit.");
  return remarks;
}
