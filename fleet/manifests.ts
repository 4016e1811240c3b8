import { join, posix, relative } from "node:path";
import { groupBy, programConfig, programFiles, yamlForAll, yamlProgram } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack, type Organization } from "./schema";
import { connectionVariables } from "./secrets";

/** The default folder of `--out`, next to the fleet file. */
export const defaultOut = "operator";
const programFolder = "program";
const hourly = 3600;

type Settings = Fleet["kubernetes"];
type Manifest = Record<string, unknown>;

/** A name for Kubernetes, which allows neither capital letters nor underscores, and dots only between letters and digits. */
const kubernetesName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]/g, "-")
    .replaceAll(/[.-]*[.][.-]+|-+[.]/g, "-")
    .replaceAll(/^[.-]+|[.-]+$/g, "");

/** @throws Error if two of them have the same name in Kubernetes. @param named what each is, and its name there */
function refuseTwins({ file }: Fleet, named: readonly [what: string, name: string][]): void {
  for (const [name, [[one], other]] of groupBy(named, ([, name]) => name))
    if (other)
      throw new Error(`${file}: ${one} and ${other[0]} have the same name in Kubernetes, ${name}: rename one of them.`);
}

const fromSecret = (name: string, key: string) => ({ type: "Secret", secret: { name, key } });

/** The Secret with the key of an organization. */
const secretOf = ({ name }: Organization): string => `consortium-${kubernetesName(name)}`;

const isCloud = ({ backend }: Fleet): boolean => backend?.startsWith("https://") === true;

/** Settings of the state, and their keys in the Secret: even the address may contain a password. */
const stateKeys = (fleet: Fleet): Record<string, string> =>
  isCloud(fleet)
    ? { PULUMI_ACCESS_TOKEN: "accessToken" }
    : { PULUMI_BACKEND_URL: "backendUrl", PULUMI_CONFIG_PASSPHRASE: "passphrase" };

function references(fleet: Fleet, stack: FleetStack): Manifest {
  const all: Manifest = { CONSORTIUM_API_KEY: fromSecret(secretOf(stack.organization), "apiKey") };
  for (const [name, key] of Object.entries(stateKeys(fleet))) all[name] = fromSecret(fleet.kubernetes.secret, key);
  for (const [name, value] of Object.entries(connectionVariables(stack)))
    all[name] = { type: "Literal", literal: { value } };
  return all;
}

const slashes = (path: string): string => path.replaceAll("\\", "/");

function stackManifest(fleet: Fleet, stack: FleetStack, source: Manifest): Manifest {
  const { namespace, serviceAccount, image } = fleet.kubernetes;
  return {
    apiVersion: "pulumi.com/v1",
    kind: "Stack",
    metadata: { name: kubernetesName(stack.name), namespace },
    spec: {
      serviceAccountName: serviceAccount,
      ...source,
      stack: stack.name,
      ...(isCloud(fleet) && { backend: fleet.backend }),
      ...(fleet.secretsProvider !== undefined && { secretsProvider: fleet.secretsProvider }),
      envRefs: references(fleet, stack),
      // Corrects drift every hour. Deleting the manifest never deletes a ledger.
      refresh: true,
      continueResyncOnCommitMatch: true,
      resyncFrequencySeconds: hourly,
      destroyOnFinalize: false,
      workspaceTemplate: { spec: { image } },
    },
  };
}

/** A program in a folder of the repository. */
function fromRepository(fleet: Fleet, stack: FleetStack, out: string): Manifest {
  const { git } = fleet.kubernetes;
  if (git === undefined)
    throw new Error(
      `${fleet.file} does not say where the operator finds the network files: add kubernetes: { git: { repository: https://…, branch: main } }.`,
    );
  const program = stack.program ?? join(out, programFolder);
  const repoDir = posix.join(git.folder, slashes(relative(fleet.folder, program)));
  const definition = stack.definition && slashes(relative(program, stack.definition));
  const { repository: projectRepo, commit, branch = commit === undefined ? "main" : undefined } = git;
  const config = definition && programConfig(fleet.project, definition, stack.network);
  return { projectRepo, branch, commit, repoDir, ...(config && { config }) };
}

/** The network itself as a manifest, for the provider plugin. It needs no repository. */
const programManifest = (name: string, { namespace }: Settings, file: string, network?: string): Manifest => ({
  apiVersion: "pulumi.com/v1",
  kind: "Program",
  metadata: { name, namespace },
  program: yamlProgram(file, network),
});

/** Workspaces ask the cluster whether a call comes from the operator. */
const accessManifests = ({ namespace, serviceAccount: name }: Settings): Manifest[] => [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: `${namespace}:${name}:system:auth-delegator` },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:auth-delegator" },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  },
];
const rbac = "rbac.authorization.k8s.io";

const documents = (manifests: readonly Manifest[]): string => manifests.map(yamlForAll).join("---\n");

/**
 * The same fleet for the Pulumi Kubernetes operator: texts by file name. They refer to secrets and do not contain them.
 * @param out the absolute folder of the files
 * @param options programs: makes each network file a `Program`, instead of one program that reads them all
 */
export function fleetManifests(fleet: Fleet, out: string, { programs = false } = {}): Record<string, string> {
  refuseTwins(fleet, [
    ["the Secret of the state", fleet.kubernetes.secret],
    ...fleet.organizations.map((one): [string, string] => [`the Secret of ${one.name}`, secretOf(one)]),
  ]);
  refuseTwins(fleet, [
    ["the file access.yaml", "access"],
    ...fleet.stacks.map(({ name }): [string, string] => [`the stack ${name}`, kubernetesName(name)]),
  ]);
  const files: Record<string, string> = { "access.yaml": documents(accessManifests(fleet.kubernetes)) };
  for (const stack of fleet.stacks) {
    const name = kubernetesName(stack.name);
    const file = programs ? stack.definition : undefined;
    const source = file === undefined ? fromRepository(fleet, stack, out) : { programRef: { name } };
    const program = file === undefined ? [] : [programManifest(name, fleet.kubernetes, file, stack.network)];
    files[`${name}.yaml`] = documents([...program, stackManifest(fleet, stack, source)]);
  }
  const isShared = !programs && fleet.stacks.some(({ definition }) => definition !== undefined);
  for (const [name, text] of Object.entries(isShared ? programFiles(fleet.project) : {}))
    files[`${programFolder}/${name}`] = text;
  return files;
}

/** The required Secrets and their keys. */
export const neededSecrets = (fleet: Fleet): string[] => [
  `${fleet.kubernetes.secret} with ${Object.values(stateKeys(fleet)).join(" and ")}`,
  ...fleet.organizations.map((organization) => `${secretOf(organization)} with apiKey`),
];
