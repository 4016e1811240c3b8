import { type PolicyPackArgs, type ResourceValidation, type StackValidation } from "@pulumi/policy";
import * as analyzer from "@pulumi/pulumi/proto/analyzer_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type ConsortiumPolicy } from "../../../sdk/policy";
import { type Plan, type Planned } from "./plan";

/*
 * The real policy host of @pulumi/policy, which gets the same messages from here as it gets from the engine: so the tests
 * see proxies for unknown values, resolved dependencies and levels as a run does.
 */

type Rpc = (
  call: { request: unknown },
  done: (error: Error | undefined, answer?: analyzer.AnalyzeResponse) => void,
) => Promise<void>;
type MakeRpc = (pack: string, version: string, level: string, policies: PolicyPackArgs["policies"]) => Rpc;
const host =
  jest.requireActual<Record<"makeAnalyzeRpcFun" | "makeAnalyzeStackRpcFun", MakeRpc>>("@pulumi/policy/server");

export interface Found {
  policy: string;
  level: string;
  message: string;
  /** Name of its resource. */
  about?: string;
}

const levels = ["advisory", "mandatory", "disabled", "remediate"];

function optionsOf({ protect, parent }: Planned): analyzer.AnalyzerResourceOptions {
  const options = new analyzer.AnalyzerResourceOptions();
  options.setProtect(protect);
  options.setParent(parent?.urn ?? "");
  return options;
}

function providerOf({ provider }: Planned): analyzer.AnalyzerProviderResource | undefined {
  if (!provider) return undefined;
  const message = new analyzer.AnalyzerProviderResource();
  message.setType(provider.type);
  message.setName(provider.name);
  message.setUrn(provider.urn);
  message.setProperties(Struct.fromJavaScript(provider.props as never));
  return message;
}

function fill<M extends analyzer.AnalyzeRequest | analyzer.AnalyzerResource>(message: M, planned: Planned): M {
  message.setType(planned.type);
  message.setName(planned.name);
  message.setUrn(planned.urn);
  message.setProperties(Struct.fromJavaScript(planned.props as never));
  message.setOptions(optionsOf(planned));
  message.setProvider(providerOf(planned));
  return message;
}

function inStack(planned: Planned): analyzer.AnalyzerResource {
  const message = fill(new analyzer.AnalyzerResource(), planned);
  message.setParent(planned.parent?.urn ?? "");
  message.setDependenciesList(planned.dependencies.map(({ urn }) => urn));
  for (const [key, made] of Object.entries(planned.propertyDependencies)) {
    const urns = new analyzer.AnalyzerPropertyDependencies();
    urns.setUrnsList(made.map(({ urn }) => urn));
    message.getPropertydependenciesMap().set(key, urns);
  }
  return message;
}

async function ask(rpc: Rpc, request: unknown): Promise<Found[]> {
  const answer = await new Promise<analyzer.AnalyzeResponse>((resolve, reject) => {
    void rpc({ request }, (error, response) => (response ? resolve(response) : reject(error!)));
  });
  return answer.getDiagnosticsList().map((diagnostic) => {
    const urn = diagnostic.getUrn();
    return {
      policy: diagnostic.getPolicyname(),
      level: levels[diagnostic.getEnforcementlevel()]!,
      message: diagnostic
        .getMessage()
        .replace(`${diagnostic.getDescription()}\n`, "")
        .replace(/\s\[invalid-setting: docs\/troubleshooting\.md#invalid-setting\]$/, ""),
      ...(urn && { about: urn.split("::").at(-1) }),
    };
  });
}

/** The violations in a plan: first resource by resource, then in the whole stack. `config` is in the engine's form. */
export async function judge(
  policies: readonly ConsortiumPolicy[],
  plan: Plan,
  config: Record<string, object> = {},
): Promise<Found[]> {
  const configured = policies.map((policy) => {
    const getConfig = <T>(): T => (config[policy.name] ?? {}) as T;
    const { validateResource, validateStack } = policy;
    if (typeof validateResource !== "function") throw new Error("one function judges resources");
    const resource: ResourceValidation = (args, report) => validateResource({ ...args, getConfig }, report);
    const stack: StackValidation = (args, report) => validateStack?.({ ...args, getConfig }, report);
    const { __pulumiType } = validateResource as { __pulumiType?: string };
    return {
      ...policy,
      validateResource: Object.assign(resource, { __pulumiType }),
      ...(validateStack && { validateStack: stack }),
    };
  });
  const analyze = host.makeAnalyzeRpcFun("pack", "1.0.0", "advisory", configured);
  const found: Found[] = [];
  for (const planned of plan.resources) {
    const some = await ask(analyze, fill(new analyzer.AnalyzeRequest(), planned));
    found.push(...some.map((one) => ({ ...one, about: planned.name })));
  }
  const stack = new analyzer.AnalyzeStackRequest();
  stack.setResourcesList(plan.resources.map(inStack));
  return [...found, ...(await ask(host.makeAnalyzeStackRpcFun("pack", "1.0.0", "advisory", configured), stack))];
}

/** The messages of one policy alone. */
export const messages = async (policy: ConsortiumPolicy, plan: Plan, config?: object): Promise<string[]> =>
  (await judge([policy], plan, config && { [policy.name]: config })).map(({ message }) => message);
