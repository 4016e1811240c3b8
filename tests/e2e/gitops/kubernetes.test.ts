import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { finished } from "../../../tools/lib/processes.mjs";
import { StubPulumi } from "../../fleet/stub-pulumi";
import { temporary, writeIn } from "../../fleet/made";
import { filesIn, text } from "../../gitops/files";
import { crds, documentsIn } from "../../gitops/operator";
import { built } from "../../service/child";
import { until } from "../../support/until";
import { ApiServer, type KubernetesObject, operator, type Said } from "../support/kubernetes";
import { root } from "../support/stack";

/*
 * Manifests, `fleet status` and `fleet resume` on a real Kubernetes API server. The operator is in no registry: its CRDs are described in
 * tests/gitops/operator.ts, and nothing acts on the Stacks.
 */

jest.setTimeout(1_800_000); // the first time, the API server is built

let server: ApiServer;
const folder = temporary();
const objectsIn = (files: string[]): KubernetesObject[] =>
  files.flatMap((one) => documentsIn(one) as unknown as KubernetesObject[]);
const consortium = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  finished(
    spawn(process.execPath, [join(root, "dist/cli/consortium.js"), "fleet", ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

/** The manifests of a folder; those of a program for Pulumi are not for Kubernetes. */
function manifestsIn(path: string): string[] {
  const all = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => !name.startsWith("program"));
  return all
    .map((name) => join(path, name))
    .flatMap((file) => (statSync(file).isFile() ? [readFileSync(file, "utf8")] : []));
}

beforeAll(async () => {
  built();
  server = await ApiServer.start();
  for (const crd of crds) expect(await server.create(crd)).toMatchObject({ status: 201 });
  const served = async ({ spec: { group, names, versions } }: (typeof crds)[0]): Promise<boolean> =>
    (await server.call("GET", `/apis/${group}/${versions[0]!.name}/${names.plural}`)).status === 200;
  for (const crd of crds) await until(() => served(crd));
});

/**
 * A server's errors for manifests, and for the objects that the operator derives from each Stack. Keeps namespaces, which later manifests
 * need.
 */
async function refusals(objects: KubernetesObject[]): Promise<string[]> {
  const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  for (const name of namespaces) await server.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const all = objects.flatMap((one) => (one.kind === "Stack" ? [one, ...madeOf(one)] : [one]));
  const said: [KubernetesObject, Said][] = [];
  for (const one of all) said.push([one, await server.create(one, { dry: true })]);
  return said.flatMap(([{ kind, metadata }, { status, message }]) => {
    const isThere = kind === "Namespace" && status === 409;
    return status === 201 || isThere ? [] : [`${kind} ${metadata.name}: ${message}`];
  });
}

/** The operator's names of the objects that serve a Stack's workspace. */
function madeOf({ metadata: { name: stack, namespace } }: KubernetesObject): KubernetesObject[] {
  const metadata = { name: `${stack}-workspace`, namespace };
  const labels = { "auto.pulumi.com/workspace-name": stack };
  const pod = { metadata: { labels }, spec: { containers: [{ name: "pulumi", image: "pulumi/pulumi" }] } };
  const set = { serviceName: metadata.name, selector: { matchLabels: labels }, template: pod };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { clusterIP: "None", ports: [{ name: "grpc", port: 50051 }] },
    },
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata, spec: set },
  ];
}

describe("a strict dry run accepts", () => {
  test("the manifests of examples/gitops/operator", async () => {
    const objects = objectsIn(filesIn("operator").map(text));
    expect(objects.filter(({ kind }) => kind === "Stack")).toHaveLength(3);
    expect(await refusals(objects)).toEqual([]);
  });

  const repository = "https://git.example.com/trade/networks.git";
  const git = { repository, commit: "0".repeat(40), auth: { ssh: "git" } };
  test.each([
    ["with a repository", { git }, []],
    ["with --preview", { git }, ["--preview"]],
    ["with --program", { image: "registry.example.com/pulumi" }, ["--program"]],
    ["with --program --preview", { image: "registry.example.com/pulumi" }, ["--program", "--preview"]],
  ])("the output of `fleet manifests`, %s", async (title, kubernetes, flags) => {
    const networks = ["trade", "spice"].map((name) => `networks/${name}.yaml`);
    for (const file of networks) writeIn(folder, file, "members: [m]\n");
    const long = "a-very-long-name-of-a-stack-which-no-service-may-have";
    const stacks = { [long]: networks[0], "Prod.2": { definition: networks[1], dependsOn: [`acme-${long}`] } };
    const organizations = {
      acme: { apiKey: { env: "A" }, region: "eu", stacks },
      "9.Globex_Sons": { apiKey: { env: "G" }, stacks: { prod: networks[0] } },
    };
    const given = { project: "trade", id: "trade of all", backend: "s3://a-bucket", organizations };
    writeIn(folder, "fleet.yaml", JSON.stringify({ ...given, kubernetes: { namespace: "networks", ...kubernetes } }));
    const out = title.replaceAll(" ", "-");
    const { code, text: said } = await consortium(["manifests", "fleet.yaml", "--out", out, ...flags]);
    expect({ code, said }).toEqual({ code: 0, said });
    const objects = objectsIn(manifestsIn(join(folder, out)));
    const stacksIn = objects.filter(({ kind }) => kind === "Stack");
    expect(stacksIn).toHaveLength(flags.includes("--preview") ? 6 : 3);
    expect(await refusals(objects)).toEqual([]);
    // What the server wrote in another form would be a change, and a run, at each `kubectl apply`.
    for (const one of objects.filter(({ apiVersion }) => apiVersion.includes("pulumi.com"))) {
      const { body } = await server.create(one, { dry: true });
      expect({ ...body, metadata: undefined }).toEqual({ ...one, metadata: undefined });
    }
  });
});

describe("a strict dry run refuses", () => {
  const staging = (change: (text: string) => string) => objectsIn([change(text("operator/stack-staging.yaml"))]);
  test.each([
    ["a misspelt field", "repoDir", "repodir", /^Stack network-staging: .*unknown field "spec.repodir"/],
    ["a name of 43 characters", "name: network-staging\n", `name: ${"a".repeat(43)}\n`, /more than 42 characters/],
    ["a name with a dot", "name: network-staging\n", "name: prod.a\n", /^Service prod.a-workspace: .*DNS-1035/],
  ])("%s", async (_, right, wrong, said) => {
    const all = await refusals(staging((one) => one.replaceAll(right, wrong)));
    expect(all).toContainEqual(expect.stringMatching(said));
  });
});

describe("with the permissions in docs/operator.md", () => {
  const namespace = "networks-acme";
  const stacks = `/apis/pulumi.com/v1/namespaces/${namespace}/stacks`;
  let env: NodeJS.ProcessEnv;

  /** A Stack as the operator leaves it. */
  async function left(name: string, type: "Ready" | "Stalled", reason: string): Promise<void> {
    const spec = { stack: name, envRefs: {}, programRef: { name }, workspaceTemplate: { spec: { image: "pulumi" } } };
    const metadata = { name, namespace };
    const made = await server.create({ apiVersion: "pulumi.com/v1", kind: "Stack", metadata, spec });
    expect(made).toMatchObject({ status: 201 });
    const at = "2026-11-27T10:00:00Z";
    const conditions = [{ type, status: "True", reason, message: "", lastTransitionTime: at }];
    const status = { observedGeneration: 1, conditions, projectInfo: { name: "trade" } };
    const said = await server.call("PUT", `${stacks}/${name}/status`, { ...made.body, status });
    expect(said).toMatchObject({ status: 200 });
  }
  const requestOf = async (name: string): Promise<unknown> => {
    const { body } = await server.call("GET", `${stacks}/${name}`);
    return (body.metadata.annotations as Record<string, string> | undefined)?.["pulumi.com/reconciliation-request"];
  };

  beforeAll(async () => {
    await server.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await left("acme-prod", "Ready", "");
    await left("acme-stalled", "Stalled", "UpdateFailed");
    await left("acme-uninstalled", "Stalled", "WorkspaceFailed");
    for (let at = 0; at < 250; at++) await left(`acme-${at}`, "Ready", "");
    const metadata = { name: "acme-uninstalled", namespace };
    const workspace = { apiVersion: "auto.pulumi.com/v1alpha1", kind: "Workspace", metadata };
    expect(await server.create({ ...workspace, spec: { image: "pulumi" } })).toMatchObject({ status: 201 });

    const rules = [
      { apiGroups: ["pulumi.com"], resources: ["stacks"], verbs: ["list", "patch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
      { apiGroups: ["auto.pulumi.com"], resources: ["workspaces"], verbs: ["delete"] },
    ];
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: operator.name, namespace } };
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: operator.name };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: operator.name }];
    expect(await server.create({ ...rbac, kind: "Role", rules })).toMatchObject({ status: 201 });
    expect(await server.create({ ...rbac, kind: "RoleBinding", roleRef, subjects })).toMatchObject({ status: 201 });
    const pulumi = new StubPulumi(join(folder, "stub"));
    env = { ...pulumi.env, KUBECONFIG: server.configuration(namespace, operator.token) };
  });

  test("`status` sees all Stacks of a namespace, page after page", async () => {
    const { code, stdout } = await consortium(["status", "--json"], env);
    const { total } = JSON.parse(stdout) as { total: object };
    expect({ code, total }).toMatchObject({ code: 1, total: { ready: 251, stalled: 2 } });
  });

  test("`resume` asks the operator to run stalled Stacks again, and deletes a Workspace that would not retry", async () => {
    const { code, text: said } = await consortium(["resume", "--yes"], env);
    expect({ code, said }).toEqual({ code: 0, said: expect.any(String) as string });
    expect(await requestOf("acme-prod")).toBeUndefined();
    expect(await Promise.all(["acme-stalled", "acme-uninstalled"].map(requestOf))).toEqual([
      expect.any(String),
      expect.any(String),
    ]);
    const workspaces = `/apis/auto.pulumi.com/v1alpha1/namespaces/${namespace}/workspaces`;
    expect(await server.call("GET", `${workspaces}/acme-uninstalled`)).toMatchObject({ status: 404 });
  });

  test("another namespace is refused, in the server's words", async () => {
    const { code, text: said } = await consortium(["status", "--namespace", "networks-globex"], env);
    expect({ code, said }).toMatchObject({
      code: 1,
      said: expect.stringContaining(`User "${operator.name}" cannot list resource "stacks"`) as string,
    });
  });
});
