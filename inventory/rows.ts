import { printable } from "../provider/api/printable";
import { classOf, type Kind, kindOf, partsOfUrn } from "../provider/constants";
import { type Definition, inputKeys, inputMeta, nameKey } from "../provider/core/definition";
import { isAdoptedShared, isReadable } from "../provider/core/state";
import { fieldsOf, groupBy, text } from "../provider/plain";
import { definitions } from "../provider/resources";
import {
  type ConsortiumModel,
  displayName,
  emptyLists,
  limitsUsed,
  listIn,
  type Managed,
  type NetworkModel,
  type ObjectModel,
  type OtherKind,
  type OtherModel,
  type Remarks,
  sortLists,
  type TetherModel,
} from "./model";

/** An object from any source: the service, a state, a plan or a network file. */
export interface Row extends Remarks {
  kind: Kind;
  /** Absent if it is not created yet. */
  id?: string;
  /** By the names of the resource's properties, including ids of parents. A secret or unknown value is not text. */
  props: Readonly<Record<string, unknown>>;
  /** Inputs of which the service shows no value. */
  lacked?: readonly string[];
  /** URNs of the resources that each property depends on. */
  sources?: Readonly<Record<string, readonly string[] | undefined>>;
}

/** A row of a stack, with its name in the program. */
export interface StackRow extends Row {
  managed: Managed;
  /** The provider's own record of it. */
  state?: Row["props"];
}

/** The class of a type token on either provider, such as `Node`; the whole token for other packages. */
export function classIn(type: string): string {
  return printable(classOf(type) ?? type);
}

/** The kind and name in the URN of a resource; undefined for other packages. */
export function namedBy(urn: string): Pick<StackRow, "kind" | "managed"> | undefined {
  const { stack, project, type, name } = partsOfUrn(urn);
  const kind = kindOf(classOf(type));
  return kind && { kind, managed: { stack: `${project}/${stack}`, urn, name } };
}

/** The properties of a kind in a model, if they differ from `plainInputs`. */
const chosen: Partial<Record<Kind, readonly string[]>> = {
  consortium: ["description", "state"],
  membership: ["state", "minimumNodes", "maximumNodes"],
  environment: ["provider", "consensusType", "state", "chainId", "region", "releaseId", "blockPeriod"],
  node: ["state", "role", "size", "publicAddress", "blockHeight", "validators", "urls"],
  tetherService: [
    ...["network", "intervalHours", "state", "account", "balanceWei", "reports", "lastPin", "problem", "targetUrl"],
    "changedAt",
  ],
  service: ["service", "serviceType", "size", "zoneId", "hybridPortAllocation"],
  destination: ["serviceId", "uri", "setupComplete", "kaleidoManaged"],
};

/** The inputs that say what an object is: all but its name, ids of other objects, and what the service does not show. */
const plainInputs = (definition: Definition): readonly string[] =>
  inputKeys(definition).filter((key) => {
    const meta = inputMeta(definition, key)!;
    return isReadable(meta) && !meta.argument && key !== nameKey(definition);
  });

const shownOf = (kind: Kind): readonly string[] => (chosen[kind] ??= plainInputs(definitions[kind]));

const isPlain = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

/** A property in the form that a model has; undefined if it has another form, such as a secret. */
function plain(key: string, value: unknown): unknown {
  if (key === "lastPin") return value;
  if (key === "validators") return Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
  if (key === "urls") {
    const { rpc, wss } = fieldsOf(value);
    return (text(rpc) ?? text(wss)) ? { rpc: text(rpc), wss: text(wss) } : undefined;
  }
  return isPlain(value) ? value : undefined;
}

/** The id of an object that is not created yet is its logical name. Destinations have names that are unique only in their service. */
export function idOf({ kind, id, managed, props }: Row): string {
  if (id === undefined) return (managed as Managed).name;
  return kind !== "destination" ? id : `${text(props.serviceId)}/${id}`;
}

/** The id and the remarks. */
function remarksOf(row: Row) {
  const { managed, change, kept, drift, unseen, unlisted } = row;
  return {
    id: idOf(row),
    ...(managed && { managed }),
    ...(change && { change }),
    ...(kept && { kept }),
    ...(unseen && { unseen }),
    ...(unlisted && { unlisted }),
    ...(drift && drift.length > 0 && { drift }),
  };
}

/** The id, the remarks and the properties of its kind. */
function factsOf(row: Row) {
  const given = shownOf(row.kind).map((key) => [key, plain(key, row.props[key])] as const);
  return { ...remarksOf(row), ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
}

const isOther = (row: Row): row is Row & { kind: OtherKind } => isOtherKind(row.kind);

function otherOf(row: Row & { kind: OtherKind }, membershipId: string | undefined): OtherModel {
  const { kind, props } = row;
  const facts = shownOf(kind).flatMap((key) => (isPlain(props[key]) ? [[key, props[key]] as const] : []));
  const urls = Object.entries(props.urls ?? {}).filter((one): one is [string, string] => typeof one[1] === "string");
  return {
    ...remarksOf(row),
    kind,
    name: text(props.orgName) ?? named(row),
    state: text(props.state),
    membershipId,
    facts: Object.fromEntries(facts),
    ...(urls.length > 0 && { urls: Object.fromEntries(urls) }),
    ...(isAdoptedShared(props) && { shared: true }),
  };
}

/** Kinds with a list of their own in what they are in, and consortia and tethers. */
const ownLists: readonly Kind[] = ["consortium", "membership", "environment", "node", "appCred", "tetherService"];

/** In the order in which they are shown. Any other kind comes last. */
const first: OtherKind[] = [
  "service",
  "destination",
  "configuration",
  "environmentZone",
  "consortiumZone",
  "invitation",
];
const isOtherKind = (kind: Kind): kind is OtherKind => !ownLists.includes(kind);
const otherKinds = [...new Set([...first, ...(Object.keys(definitions) as Kind[]).filter(isOtherKind)])];

const named = (row: Row): string => text(row.props.name) ?? (row.managed as Managed | undefined)?.name ?? idOf(row);

/** Finds the parents and owners of rows. */
class Parents {
  readonly #byKind: ReadonlyMap<Kind, Row[]>;
  readonly #byId = new Map<string, Row>();

  constructor(rows: readonly Row[]) {
    this.#byKind = groupBy(rows, ({ kind }) => kind);
    for (const one of rows) {
      if (one.id !== undefined) this.#byId.set(`${one.kind} ${one.id}`, one);
      if (typeof one.managed === "object") this.#byId.set(`${one.kind} ${one.managed.urn}`, one);
    }
  }

  /** The id of a parent; undefined if nothing shows it, for example because it is only known later. */
  idOf(row: Row, kind: Kind, property: string): string | undefined {
    const given = text(row.props[property]);
    const sources = row.sources?.[property] ?? [];
    const found = [given ?? "", ...sources].flatMap((one) => this.#byId.get(`${kind} ${one}`) ?? [])[0];
    if (found) return idOf(found);
    if (given !== undefined || typeof row.managed !== "object") return given;
    const some = this.#byKind.get(kind) ?? [];
    const guess = this.#named(row.managed.name, some) ?? (some.length === 1 ? some[0] : undefined);
    return guess && idOf(guess);
  }

  /** In networks, names of parts begin with their parent's: `trade/prod/acme-1` is in `trade/prod`. */
  #named(name: string, some: readonly Row[]): Row | undefined {
    const lengthOf = ({ managed }: Row): number => (managed as Managed).name.length;
    const within = some.filter(({ managed }) => typeof managed === "object" && name.startsWith(`${managed.name}/`));
    return within.sort((a, b) => lengthOf(b) - lengthOf(a))[0];
  }
}

/** The part of the model that comes from a row. @param membershipId its owner */
function objectOf(row: Row, membershipId: string | undefined): ObjectModel {
  const { kind, props } = row;
  if (isOther(row)) return otherOf(row, membershipId);
  const facts = { ...factsOf(row), ...emptyLists(kind) };
  if (kind === "membership") return { ...facts, orgName: text(props.orgName) ?? named(row) };
  return { ...facts, name: named(row), ...((kind === "node" || kind === "appCred") && { membershipId }) };
}

/** The network of some rows. A parent that is not among them is shown by its id only. */
export function modelOf(rows: readonly Row[], about: Pick<NetworkModel, "source" | "title">): NetworkModel {
  const parents = new Parents(rows);
  const owners = { consortium: new Map<string, ObjectModel>(), environment: new Map<string, ObjectModel>() };
  type Owner = keyof typeof owners;
  const put = (row: Row, kind: Kind, object: ObjectModel): ObjectModel => {
    if (kind === "consortium" || kind === "environment") owners[kind].set(object.id, object);
    const isInEnvironment = "environmentId" in definitions[kind].inputs.shape;
    if (kind !== "consortium") listIn(ownerOf(row, isInEnvironment ? "environment" : "consortium"), kind).push(object);
    return object;
  };
  const ownerOf = (row: Row, kind: Owner): ObjectModel => {
    const id = parents.idOf(row, kind, `${kind}Id`) ?? "known later";
    return owners[kind].get(id) ?? put(row, kind, { id, name: id, ...emptyLists(kind) });
  };
  for (const kind of ["consortium", "membership", "environment", "node", "appCred", ...otherKinds] as const)
    for (const row of rows.filter((one) => one.kind === kind))
      put(row, kind, objectOf(row, parents.idOf(row, "membership", "membershipId")));
  const tethers = rows.flatMap((row): TetherModel[] => {
    if (row.kind !== "tetherService") return [];
    const facts = factsOf(row);
    const environmentId = environmentIdOf(row, rows, owners.environment) ?? "";
    const id = text(row.props.tetherId) ?? facts.id;
    return [{ ...facts, id, ...(owners.environment.has(environmentId) && { environmentId }) }];
  });
  const consortia = [...owners.consortium.values()] as ConsortiumModel[];
  // The author chose the order of a file; the order of a list or a state is arbitrary.
  if (about.source !== "network file") sortLists(consortia, inNaturalOrder);
  return { ...about, limits: limitsUsed(consortia), consortia, tethers };
}

const placeOf = (object: ObjectModel): number => ("kind" in object ? otherKinds.indexOf(object.kind) : 0);

/** By kind, then by name, with numbers by their value: `node 2` before `node 10`. */
const inNaturalOrder = (one: ObjectModel, other: ObjectModel): number =>
  placeOf(one) - placeOf(other) ||
  displayName(one).localeCompare(displayName(other), "en", { numeric: true }) ||
  (one.id < other.id ? -1 : 1);

/**
 * The environment that a tether pins, as far as a stack shows it: in a network, the one with the name that the tether's begins with;
 * otherwise the only one, if there is only one tether.
 */
function environmentIdOf(tether: Row, rows: readonly Row[], environments: ReadonlyMap<string, unknown>) {
  const { managed, props } = tether;
  if (typeof managed !== "object") return text(props.environmentId);
  const around = rows.find(({ kind, managed: one }) => {
    return kind === "environment" && typeof one === "object" && managed.name === `${one.name}/tether`;
  });
  const isAlone = rows.filter(({ kind }) => kind === "tetherService").length === 1 && environments.size === 1;
  return around ? idOf(around) : isAlone ? [...environments.keys()][0] : undefined;
}
