import { messageOf, printableLines, UserError } from "pulumi-consortium/internal/fleet";
import { holdersOf, lockedBy } from "./recovery";
import { type Outcome, emptyResult, type StackResult } from "./results";

/* The operator's Stacks in a cluster. Only this file loads the client, which takes a second. */

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** The parts of the operator's Stack that are read here. */
export interface StackObject {
  metadata: { name: string; namespace: string; generation?: number; annotations?: Record<string, string> };
  spec: { stack: string; programRef?: { name: string }; preview?: boolean };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    currentUpdate?: { name?: string };
    lastUpdate?: { state?: string; message?: string; lastResyncTime?: string; lastSuccessfulCommit?: string };
    projectInfo?: { name: string };
  };
}

const outcomesOf: Record<string, Outcome> = {
  Stalled: "stalled",
  Ready: "ok",
  PrerequisiteNotSatisfied: "waiting",
  RetryingAfterFailure: "retrying",
  PreviewFailed: "retrying",
};

/** What the operator says of a Stack. */
export function resultOfStack({ metadata, spec, status = {} }: StackObject): StackResult {
  const { name, namespace, generation } = metadata;
  const { conditions = [], lastUpdate: last, observedGeneration } = status;
  const one = (type: string) => conditions.find((each) => each.type === type && each.status === "True");
  const [stalled, reconciling, ready] = ["Stalled", "Reconciling", "Ready"].map(one);
  const condition = stalled ?? reconciling ?? ready;
  // Conditions of an earlier specification do not count, except that nothing runs any more.
  const isOld = stalled === undefined && observedGeneration !== generation && generation !== undefined;
  const { type = "", reason = "" } = condition ?? {};
  const holders = holdersOf(last?.message ?? "");
  return emptyResult({
    stack: spec.stack,
    organization: namespace,
    outcome: isOld || condition === undefined ? "new" : (outcomesOf[type] ?? outcomesOf[reason] ?? "running"),
    error: condition === undefined || condition === ready ? undefined : reasonOf(condition, last),
    operated: {
      namespace,
      name,
      preview: spec.preview || undefined,
      since: condition?.lastTransitionTime,
      lastSuccess: last?.state === "succeeded" ? last.lastResyncTime : undefined,
      commit: last?.lastSuccessfulCommit,
      lock: holders.length > 0 && last?.state === "failed" ? lockedBy(holders) : undefined,
    },
  });
}

const longestReason = 300;
/** With the errors of the last update, or all of its message if nothing in it is marked as one. */
function reasonOf({ reason = "", message = "" }: Condition, { state = "", message: said = "" } = {}): string {
  const errors = said.split("\n").filter((line) => /\berror: /.test(line));
  const shown = errors.length > 0 ? errors.map((line) => line.trim()).join("; ") : said;
  const last = state === "failed" && reason.includes("Fail") && shown !== "" ? ` (${shown})` : "";
  const text = printableLines(`${reason}: ${message}${last}`).replaceAll(/\s+/g, " ");
  return text.length > longestReason ? `${text.slice(0, longestReason)}…` : text;
}

const api = () => import("@kubernetes/client-node");
type Api = Awaited<ReturnType<typeof api>>;

const stacks = { group: "pulumi.com", version: "v1", plural: "stacks" } as const;
const workspaces = { group: "auto.pulumi.com", version: "v1alpha1", plural: "workspaces" } as const;
/** The operator runs a Stack again when this annotation changes. */
const requested = "pulumi.com/reconciliation-request";
const pageSize = 200;

type Where = Pick<StackObject["metadata"], "name" | "namespace">;

export interface Pod {
  /** When it or its process started. */
  since: string;
  /** Why it does not run: "CreateContainerConfigError: secret "x" not found". */
  waiting?: string;
}

/** States that every pod passes. */
const passing = ["ContainerCreating", "PodInitializing"];

/** The operator's name for the pod of a Stack's workspace. */
export const podNameOf = (stack: string): string => `${stack}-workspace-0`;

export class Cluster {
  private constructor(
    private readonly config: InstanceType<Api["KubeConfig"]>,
    private readonly custom: InstanceType<Api["CustomObjectsApi"]>,
    private readonly core: InstanceType<Api["CoreV1Api"]>,
  ) {}

  /** Connects as kubectl's configuration says. @param context default: the current one */
  static async open(context?: string): Promise<Cluster> {
    const { CoreV1Api, CustomObjectsApi, KubeConfig } = await api();
    const config = new KubeConfig();
    try {
      config.loadFromDefault();
    } catch (cause) {
      throw new UserError("invalid-setting", `kubectl's configuration cannot be read: ${messageOf(cause)}`, { cause });
    }
    const known = config.getContexts().map(({ name }) => name);
    if (context !== undefined && !known.includes(context))
      throw new UserError(
        "invalid-argument",
        `Choose from ${known.join(", ")}: kubectl's configuration has no context ${context}.`,
      );
    if (context !== undefined) config.setCurrentContext(context);
    if (!config.getCurrentCluster())
      throw new UserError(
        "invalid-setting",
        "Choose a cluster with `kubectl config use-context`: kubectl's configuration names none.",
      );
    return new Cluster(config, config.makeApiClient(CustomObjectsApi), config.makeApiClient(CoreV1Api));
  }

  get ownNamespace(): string {
    const { currentContext } = this.config;
    return this.config.getContextObject(currentContext)?.namespace ?? "default";
  }

  async stacksIn(namespace: string, labelSelector?: string): Promise<StackObject[]> {
    const all: StackObject[] = [];
    let _continue: string | undefined;
    do {
      const asked = { ...stacks, namespace, labelSelector, limit: pageSize, _continue };
      const page = (await this.#call(
        `list the Stacks of ${namespace}`,
        this.custom.listNamespacedCustomObject(asked),
      )) as {
        items: StackObject[];
        metadata: { continue?: string };
      };
      all.push(...page.items);
      _continue = page.metadata.continue;
    } while (_continue);
    return all;
  }

  /** Asks the operator to run a Stack again. */
  async request({ name, namespace }: Where, value: string): Promise<void> {
    const { PatchStrategy, setHeaderOptions } = await api();
    const body = { metadata: { annotations: { [requested]: value } } };
    const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
    const asked = { ...stacks, namespace, name, body };
    await this.#call(`annotate the Stack ${name}`, this.custom.patchNamespacedCustomObject(asked, merging));
  }

  /** The operator creates another one, with a new pod. */
  async removeWorkspace({ name, namespace }: Where): Promise<void> {
    const asked = { ...workspaces, namespace, name };
    await this.#call(`delete the Workspace ${name}`, this.custom.deleteNamespacedCustomObject(asked), true);
  }

  /** The pod of a Stack's workspace, if it exists. */
  async podOf({ name: stack, namespace }: Where): Promise<Pod | undefined> {
    const name = podNameOf(stack);
    const pod = await this.#call(`read the pod ${name}`, this.core.readNamespacedPod({ name, namespace }), true);
    const { initContainerStatuses = [], containerStatuses = [], conditions = [] } = pod?.status ?? {};
    const running = containerStatuses.find((one) => one.name === "pulumi")?.state?.running?.startedAt;
    const since = (running ?? pod?.metadata?.creationTimestamp)?.toISOString();
    if (since === undefined) return undefined;
    const reasons = [
      ...[...initContainerStatuses, ...containerStatuses].map(({ state }) => state?.waiting),
      conditions.find(({ type, status }) => type === "PodScheduled" && status === "False"),
    ].flatMap((one) => (one?.reason === undefined || passing.includes(one.reason) ? [] : [one]));
    const [first] = reasons;
    return { since, waiting: first && [first.reason, first.message].filter(Boolean).join(": ") };
  }

  /** @param isOptional whether it may not exist */
  async #call<T>(what: string, call: Promise<T>, isOptional = false): Promise<T | undefined> {
    try {
      return await call;
    } catch (cause) {
      const { code, body } = cause as { code?: number | string; body?: unknown };
      if (code === 404 && isOptional) return undefined;
      const server = this.config.getCurrentCluster()?.server ?? "";
      if (code === 404 && !body?.toString().includes('"details"'))
        throw new UserError(
          "unsupported",
          `Install the Pulumi Kubernetes operator, or choose another context: ${server} has no resource type Stack.`,
          { cause },
        );
      const isDenied = code === 401 || code === 403;
      throw new UserError(
        isDenied ? "not-allowed" : "unreachable",
        `Cannot ${what} at ${server}: ${saidIn(body) ?? messageOf(cause)}`,
        { cause },
      );
    }
  }
}

/** The API server's message about a failure. */
function saidIn(body: unknown): string | undefined {
  try {
    return (JSON.parse(String(body)) as { message?: string }).message;
  } catch {
    return undefined;
  }
}
