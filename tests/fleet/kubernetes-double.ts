import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { type StackObject } from "../../fleet/cluster";
import { temporary, writeIn } from "./made";

const running: { close: () => void }[] = [];
afterAll(() => running.splice(0).forEach((one) => one.close()));

/** A file of kubectl's configuration for a server. */
export function configurationOf(server: string, { namespace, token }: { namespace: string; token: string }): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token } }],
    contexts: [{ name: "here", context: { cluster: "c", user: "u", namespace } }],
  };
  return writeIn(temporary(), "config", JSON.stringify(config));
}

/** The parts of a Kubernetes API server that `status` and `resume` use. */
export class Kubernetes {
  readonly calls: string[] = [];
  stacks: (StackObject & { metadata: { labels?: Record<string, string> } })[] = [];
  /** Pods by name, with their start times. */
  readonly pods = new Map<string, string>();
  /** When the next pod of this name starts, after its workspace was deleted: the operator may be quick. */
  readonly next = new Map<string, string>();
  /** Why pods wait, by name. */
  readonly waiting = new Map<string, { reason: string; message: string }>();
  /** The answer of all calls. */
  refusal?: { status: number; message: string };

  /** Returns a kubectl configuration file for it. */
  async start(): Promise<string> {
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (part) => (text += String(part)));
      request.on("end", () => {
        const { status, body } = this.#answer(request, text);
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    running.push(server);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return configurationOf(address, { namespace: "networks-acme", token: "a-token" });
  }

  #answer({ method, url, headers }: IncomingMessage, text: string): { status: number; body: unknown } {
    const { pathname, searchParams } = new URL(url!, "http://here");
    this.calls.push(`${method} ${pathname}`);
    const refused = (status: number, message: string) => ({ status, body: { kind: "Status", message, details: {} } });
    if (this.refusal) return refused(this.refusal.status, this.refusal.message);
    const [, namespace, kind, name] = /\/namespaces\/([^/]+)\/(\w+)(?:\/(.+))?$/.exec(pathname) ?? [];
    if (kind === "pods") {
      const startedAt = this.pods.get(name!);
      if (startedAt === undefined) return refused(404, "no such pod");
      const waiting = this.waiting.get(name!);
      const own = { name: "pulumi", state: waiting ? { waiting } : { running: { startedAt } } };
      const fetch = { name: "fetch", state: { terminated: { reason: "Completed", exitCode: 0 } } };
      const status = { initContainerStatuses: [fetch], containerStatuses: [own] };
      return { status: 200, body: { metadata: { name, creationTimestamp: startedAt }, status } };
    }
    if (kind === "workspaces") {
      const pod = `${name}-workspace-0`;
      this.pods.delete(pod);
      if (this.next.has(pod)) this.pods.set(pod, this.next.get(pod)!);
      return { status: 200, body: {} };
    }
    const own = this.stacks.filter(({ metadata }) => metadata.namespace === namespace);
    const one = own.find(({ metadata }) => metadata.name === name);
    if (method === "PATCH" && one) {
      if (headers["content-type"] !== "application/merge-patch+json") return refused(415, "another type");
      const { metadata } = JSON.parse(text) as StackObject;
      one.metadata.annotations = { ...one.metadata.annotations, ...metadata.annotations };
      return { status: 200, body: one };
    }
    const wanted = searchParams.get("labelSelector")?.split(",") ?? [];
    const found = own.filter(({ metadata: { labels = {} } }) =>
      wanted.every((label) => Object.entries(labels).some((pair) => pair.join("=") === label)),
    );
    const [from, size] = [Number(searchParams.get("continue") ?? 0), Number(searchParams.get("limit"))];
    const next = from + size < found.length ? String(from + size) : "";
    return { status: 200, body: { items: found.slice(from, from + size), metadata: { continue: next } } };
  }
}
