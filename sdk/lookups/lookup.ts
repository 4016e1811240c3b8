import {
  all,
  CustomResource,
  type Input,
  type InvokeOptions,
  type InvokeOutputOptions,
  output,
  type Output,
  type Resource,
  runtime,
  unknown,
} from "@pulumi/pulumi";
import { type Props } from "../../provider/core/definition";
import { type LookupName } from "../../provider/lookups";
import { lookUp, ownSettings, providerOf } from "./connection";

type Inputs<A> = { [K in keyof A]: Input<A[K]> };

/** A lookup, and its form for arguments that are outputs. */
export function lookup<A extends object, R>(name: LookupName, shape: "one" | "list") {
  const get = async (args: A, opts?: InvokeOptions): Promise<R> =>
    (await (underMocks() ? mocked(name, shape, args, opts) : lookUp(name, { ...args } as Props, opts))) as R;
  const getOutput = (args: Inputs<A>, opts?: InvokeOutputOptions): Output<R> =>
    all([output(args), made(opts?.dependsOn), output(settled(opts))]).apply<R>(([known]) => get(known as A, opts));
  return [get, getOutput] as const;
}

/** Unknown as long as a setting of the provider is. */
async function settled(opts: InvokeOptions | undefined): Promise<unknown> {
  return (await ownSettings(providerOf(opts))).unknown.length > 0 ? unknown : undefined;
}

/** Ids of resources: unknown as long as one of them is still to be made. */
function made(dependsOn: InvokeOutputOptions["dependsOn"]): Output<unknown> {
  return output(dependsOn ?? []).apply((resources) =>
    all(
      [resources]
        .flat()
        .flatMap(parts)
        .map((part) => ("id" in part ? part.id : part.urn)),
    ),
  );
}

/** A component stands for the resources in it, as with Pulumi's own `dependsOn`. */
function parts(resource: Resource): (Resource | CustomResource)[] {
  if (CustomResource.isInstance(resource)) return [resource];
  const { __childResources: children = [] } = resource as { __childResources?: Iterable<Resource> };
  return [resource, ...[...children].flatMap(parts)];
}

/** Unit tests put a monitor of their own in the place of the engine (`setMocks`). */
const underMocks = (): boolean => "mocks" in (runtime.getMonitor() ?? {});

/** There, a lookup is a call like that of any other provider. */
async function mocked(name: string, shape: "one" | "list", args: object, opts?: InvokeOptions): Promise<unknown> {
  const provider = providerOf(opts);
  const answer = (await runtime.invoke(`consortium:index:${name}`, { ...args }, { provider })) as object;
  return shape === "list" ? listIn(answer) : answer;
}

/** Pulumi hands an array over as an object; where functions have to answer objects, the list is under their one key. */
function listIn(answer: object): unknown {
  const entries = Object.entries(answer);
  if (entries.every(([key], index) => key === String(index))) return entries.map(([, item]) => item as unknown);
  const [only] = entries;
  return entries.length === 1 && Array.isArray(only![1]) ? only![1] : answer;
}
