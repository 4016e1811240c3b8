import { sameValue } from "../../provider/core/values";
import { wireName } from "../../provider/core/field";
import { type Service } from "../../service/index";
import { type Props } from "../support/engine";
import { send } from "../support/network";
import { type Spec } from "./shapes";
import { type Stack } from "./stack";

/** Where the service keeps each kind. */
const stores = {
  consortium: "consortia",
  membership: "memberships",
  environment: "environments",
  environmentZone: "zones",
  configuration: "configurations",
  node: "nodes",
  service: "services",
  appCred: "credentials",
} as const satisfies Record<Spec["kind"], keyof Service["store"]>;

const kinds = Object.keys(stores) as Spec["kind"][];

/** Everything that the service has, as text; to compare what must not have been touched. */
export const everything = (service: Service): string[] =>
  kinds.flatMap((kind) => service.store[stores[kind]].list().map((entity) => JSON.stringify(entity))).sort();

/** Ids of all that the service has besides what was there before. */
export function idsOf(service: Service, before: ReadonlySet<string>): string[] {
  const all = kinds.flatMap((kind) => service.store[stores[kind]].list().map(({ id }) => id));
  return all.filter((id) => !before.has(id)).sort();
}

/**
 * What differs between program, state and service: nothing twice, nothing left, nothing else.
 * An environment becomes live by itself, which only a refresh can see.
 */
export async function differences(
  service: Service,
  stack: Stack,
  specs: readonly Spec[],
  before: ReadonlySet<string>,
  refreshed = false,
): Promise<string[]> {
  const found: string[] = [];
  const ids = stack.ids;
  const there = idsOf(service, before).join(" ");
  const kept = [...ids.values()].sort().join(" ");
  if (there !== kept) found.push(`the service has ${there}; the state has ${kept}`);
  if (
    [...ids.keys()].sort().join() !==
    specs
      .map(({ key }) => key)
      .sort()
      .join()
  )
    found.push("not all are in the state");

  for (const { spec, engine } of stack.kept()) {
    const shown = await show(service, engine.outputs, spec, engine.kept!.id);
    const wanted: Props = { ...engine.outputs, ...spec.args };
    for (const [property, parent] of Object.entries(spec.parents)) {
      if (engine.outputs[property] !== ids.get(parent)) found.push(`${spec.key}: ${property} is another`);
    }
    for (const [property, value] of Object.entries(wanted)) {
      if (property === "state" && !refreshed) continue;
      const field = wireName(property);
      if (field in shown && !sameValue(shown[field], value)) {
        found.push(`${spec.key}: ${property} is ${JSON.stringify(shown[field])}, not ${JSON.stringify(value)}`);
      }
    }
    if (spec.kind === "appCred" && typeof engine.outputs.password !== "string") found.push(`${spec.key}: no password`);
  }
  return found;
}

/** The object as a list of the service shows it. */
async function show(service: Service, outputs: Props, { kind }: Spec, id: string): Promise<Props> {
  const last = kind === "appCred" ? "appcreds" : stores[kind];
  const { consortiumId, environmentId } = outputs as Record<string, string | undefined>;
  const within = [consortiumId && `consortia/${consortiumId}`, environmentId && `environments/${environmentId}`];
  const path = `/${[...within, last].filter((part) => part !== undefined).join("/")}`;
  const items = (await send(service, "GET", path)) as unknown as Props[];
  return items.find((item) => (item._id ?? item.id) === id) ?? {};
}

/** Somebody else changes or deletes one of ours. */
export function meddle(service: Service, stack: Stack, which: number, what: "change" | "deletion", turn: number): void {
  const ours = stack.kept();
  if (ours.length === 0) return;
  const { spec, engine } = ours[which % ours.length]!;
  const store = service.store[stores[spec.kind]];
  if (!store.list().some(({ id }) => id === engine.kept!.id)) return;
  if (what === "deletion") store.remove(engine.kept!.id);
  else store.patch(engine.kept!.id, { [spec.kind === "membership" ? "org_name" : "name"]: `theirs ${turn}` });
}
