import { UndiciTransport } from "../../provider/api/transport";
import { sameValue } from "../../provider/core/values";
import { wireName } from "../../provider/core/field";
import { type Service } from "../../service/index";
import { sha256 } from "../../service/storage/files";
import { type Stack } from "../support/double/stack";
import { type Props, revealed } from "../support/double/wire";
import { type Collected, collected, collectionOf, nameField, storeOf } from "../support/bases";
import { type Network, send } from "../support/network";
import { type Spec } from "./shapes";

/** Everything that the service has, as text; to compare what must not have been touched. */
export const everything = (service: Service): string[] =>
  collected
    .flatMap((kind) =>
      storeOf(service, kind)
        .list()
        .map((entity) => JSON.stringify(entity)),
    )
    .sort();

/** Ids of all new objects in the service. */
export function idsOf(service: Service, before: ReadonlySet<string>): string[] {
  const all = collected.flatMap((kind) =>
    storeOf(service, kind)
      .list()
      .map(({ id }) => id),
  );
  return [...new Set(all)].filter((id) => !before.has(id)).sort(); // all zones are in one store
}

/**
 * Differences between program, state and service: nothing twice, nothing left over, nothing else. An environment becomes live by itself,
 * which only a refresh can see.
 */
export async function differences(
  service: Service,
  stack: Stack,
  specs: readonly Spec[],
  before: ReadonlySet<string>,
  refreshed = false,
): Promise<string[]> {
  const found: string[] = [];
  const kept = stack.resources;
  const ids = [...kept.values()].map(({ id }) => id).sort();
  const there = idsOf(service, before);
  if (there.join() !== ids.join()) found.push(`the service has ${there.join(" ")}; the state has ${ids.join(" ")}`);
  const missing = specs.filter(({ key }) => !kept.has(key));
  if (missing.length > 0 || kept.size !== specs.length) found.push("the state has other resources than the program");

  const lists = new Map<string, Promise<Props[]>>();
  for (const spec of specs) {
    const one = kept.get(spec.key);
    if (!one) continue;
    const outputs = revealed(one.outputs);
    const shown = await show(service, outputs, spec, one.id, lists);
    const wanted: Props = { ...outputs, ...spec.args };
    for (const [property, parent] of Object.entries(spec.parents))
      if (outputs[property] !== kept.get(parent)?.id) found.push(`${spec.key}: ${property} is another`);
    for (const [property, value] of Object.entries(wanted)) {
      if (property === "state" && !refreshed) continue;
      const field = wireName(property);
      if (field in shown && !sameValue(shown[field], value))
        found.push(`${spec.key}: ${property} is ${JSON.stringify(shown[field])}, not ${JSON.stringify(value)}`);
    }
    if (spec.kind === "appCred" && shown.passwordHash !== sha256(String(outputs.password)))
      found.push(`${spec.key}: its password does not work`);
  }
  return found;
}

/** The object as a list of the service shows it, and what it does not show. Members that others have added do not count. */
async function show(
  service: Service,
  outputs: Props,
  { kind }: Spec,
  id: string,
  lists: Map<string, Promise<Props[]>>,
): Promise<Props> {
  if (!isCollected(kind)) return {};
  const path = collectionOf(kind, outputs as unknown as Network);
  const list = lists.get(path) ?? send<Props[]>(service, "GET", path);
  lists.set(path, list);
  const items = await list;
  const { fields } = storeOf(service, kind).list().find((one) => one.id === id) ?? {}; // prettier-ignore
  const shown = items.find((item) => (item._id ?? item.id) === id) ?? {};
  const text = JSON.stringify({ ...fields, ...shown }, (key, value: unknown) => (key === "theirs" ? undefined : value));
  return JSON.parse(text) as Props;
}

const isCollected = (kind: Spec["kind"]): kind is Collected => (collected as readonly string[]).includes(kind);

/** Somebody else changes or deletes one of ours. */
export function meddle(service: Service, stack: Stack, which: number, what: "change" | "deletion", turn: number): void {
  const ours = [...stack.resources.values()];
  if (ours.length === 0) return;
  const { id } = ours[which % ours.length]!;
  const kind = collected.find((one) =>
    storeOf(service, one)
      .list()
      .some((entity) => entity.id === id),
  );
  if (kind === undefined) return;
  const store = storeOf(service, kind);
  if (what === "deletion") store.remove(id);
  else store.patch(id, { [nameField(kind)]: `theirs ${turn}` });
}

/** Ends the connections of all the provider processes that were played: there are many. */
export async function disconnect(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is a mock in virtual time, and not called
  const { mock } = jest.mocked(UndiciTransport.prototype.send);
  await Promise.all([...new Set(mock.contexts as UndiciTransport[])].map((transport) => transport.close()));
  mock.contexts.length = 0;
}
