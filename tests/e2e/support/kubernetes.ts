import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { Agent, fetch } from "undici";
import { configurationOf } from "../../fleet/kubernetes-double";
import { temporary, writeIn } from "../../fleet/made";
import { freePort } from "../../support/network";
import { until } from "../../support/until";
import { atTheEnd } from "./ending";
import { goProgram } from "./go";

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [key: string]: unknown };
  [key: string]: unknown;
}
/** What the server says of a call: an object, or `Status` with a message. */
export interface Said {
  status: number;
  message: string;
  body: KubernetesObject & { items?: KubernetesObject[] };
}

const admin = "token-of-an-admin";
/** Is nobody's before a binding names it. */
export const operator = { name: "on-call", token: "token-of-an-operator" };

/** Where the objects of a kind are. */
const plurals: Record<string, string> = {
  ClusterRoleBinding: "clusterrolebindings",
  CustomResourceDefinition: "customresourcedefinitions",
  Namespace: "namespaces",
};

/** A Kubernetes API server of Go's proxy, with RBAC and without controllers: nothing acts on what it holds. */
export class ApiServer {
  readonly #folder = temporary();
  readonly #trusting = new Agent({ connect: { rejectUnauthorized: false } });

  private constructor(readonly address: string) {}

  static async start(): Promise<ApiServer> {
    const module = join(__dirname, "../gitops/kubernetes");
    const program = await goProgram({
      what: "A Kubernetes API server",
      name: "kubernetes",
      module,
      files: ["main.go"],
    });
    const port = await freePort();
    const server = new ApiServer(`https://127.0.0.1:${port}`);
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = writeIn(server.#folder, "accounts.key", String(privateKey.export({ type: "pkcs1", format: "pem" })));
    const tokens = [`${admin},admin,1,"system:masters"`, `${operator.token},${operator.name},2`];
    const flags = {
      "secure-port": port,
      "bind-address": "127.0.0.1",
      "cert-dir": join(server.#folder, "certificates"),
      "token-auth-file": writeIn(server.#folder, "tokens.csv", tokens.join("\n")),
      "authorization-mode": "RBAC",
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-account-key-file": key,
      "service-account-signing-key-file": key,
      "service-cluster-ip-range": "10.0.0.0/24",
      "disable-admission-plugins": "ServiceAccount", // its controller would make the accounts
    };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const child = spawn(program, [join(server.#folder, "store"), ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (part) => (said = (said + String(part)).slice(-4_000)));
    atTheEnd(async () => {
      child.kill("SIGKILL");
      await server.#trusting.destroy();
    });
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`The API server did not start:\n${said}`);
      return (await server.call("GET", "/readyz").catch(() => undefined))?.status === 200;
    });
    return server;
  }

  async call(method: string, path: string, body?: object, token = admin): Promise<Said> {
    const answer = await fetch(this.address + path, {
      method,
      dispatcher: this.#trusting,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    const object = (text.startsWith("{") ? JSON.parse(text) : {}) as Said["body"];
    return { status: answer.status, message: typeof object.message === "string" ? object.message : "", body: object };
  }

  /** Makes it, or only asks whether it could be made. Unknown fields are refused, as `kubectl` does. */
  create(object: KubernetesObject, { dry = false } = {}): Promise<Said> {
    const { apiVersion, kind, metadata } = object;
    const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const place = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
    const plural = plurals[kind] ?? `${kind.toLowerCase()}s`;
    return this.call("POST", `${group}${place}/${plural}?fieldValidation=Strict${dry ? "&dryRun=All" : ""}`, object);
  }

  /** A file of kubectl's configuration. */
  configuration(namespace: string, token: string): string {
    return configurationOf(this.address, { namespace, token });
  }
}
