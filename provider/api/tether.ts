import { tetherNetworks } from "../constants";
import { fieldsOf, isObject } from "../plain";
import { conditionOf, isOneOf } from "./states";

/*
 * The one reader of what services answer about a tether. The spec shows no shapes, so each value is read by the name of its field, never
 * by its position or its form. A value that may speak of a contract and cannot be read is "unclear", which is not "no".
 */

export type Fact = "yes" | "no" | "unclear";

export interface TetherAccount {
  /** Address on the public chain, 0x and 40 hex digits. */
  account?: string;
  /** Decimal text. */
  balanceWei?: string;
}

export interface ShownTether {
  /** In lower case. */
  network?: string;
  /** In hours: one value for each unit that it may be in, the likeliest first. `isUntold`: neither the spec nor the answer names the unit. */
  interval?: { hours: readonly number[]; isUntold: boolean };
  state?: keyof typeof words;
  /** The address of a contract whose network the answer does not name beside it; true: there is one. */
  contract?: string | true;
  /** Networks in lower case, with whether there is a contract. Empty text stands for one that cannot be read. */
  listed?: readonly (readonly [network: string, fact: Fact])[];
  /** Fields that may speak of a contract and cannot be read. */
  unclear: readonly string[];
}

type Fields = readonly (readonly [name: string, value: unknown, written: string])[];

/** What services wrap their answers in. */
const envelopes = ["data", "result", "tether", "config"];

/** The fields of an answer and of its envelopes, by their names in lower case and without `_`. Nothing is as good as no field. */
function fieldsIn(answer: unknown, wraps = envelopes): Fields {
  return Object.entries(fieldsOf(answer)).flatMap(([written, value]): Fields => {
    const name = written.replace(/[-_]/g, "").toLowerCase();
    if (value === null || value === undefined || value === "") return [];
    return isObject(value) && wraps.includes(name) ? fieldsIn(value, wraps) : [[name, value, written]];
  });
}

/** The value of the fields with these names. undefined: there is none, none can be read, or they contradict each other. */
function valueOf<T>(fields: Fields, names: readonly string[], read: (value: unknown) => T | undefined): T | undefined {
  const values = new Set(fields.flatMap(([name, value]) => (names.includes(name) ? [read(value)] : [])));
  return values.size === 1 ? [...values][0] : undefined;
}

const isAddress = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);
const addressIn = (value: unknown): string | undefined => (isAddress(value) ? value : undefined);

function weiIn(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : undefined;
  if (typeof value !== "string" || !/^(\d+|0x[0-9a-f]+)$/i.test(value) || isAddress(value)) return undefined;
  return BigInt(value).toString();
}

const names = {
  account: ["account", "address", "accountaddress", "publicaddress"],
  balance: ["balance", "wei", "balancewei"],
  count: ["count", "reportcount", "total", "reports", "data", "result"],
  network: ["network", "targetnetwork", "currentnetwork"],
  state: ["state"],
  status: ["status"],
  isActive: ["active", "isactive", "started", "isstarted", "running", "isrunning"],
  isDeployed: ["deployed", "isdeployed", "contractdeployed", "iscontractdeployed"],
  contract: ["contract", "contractaddress", "arbitrator", "arbitratoraddress", "deployedaddress"],
};

/** @param network of which a balance was requested */
export function accountIn(answer: unknown, network = ""): TetherAccount {
  if (!isObject(answer)) return { account: addressIn(answer), balanceWei: weiIn(answer) };
  const fields = fieldsIn(answer, [...envelopes, ...names.account, "balance"]);
  const balances = [...names.balance, network.toLowerCase()];
  return { account: valueOf(fields, names.account, addressIn), balanceWei: valueOf(fields, balances, weiIn) };
}

/** How many reports there are. undefined: it cannot be read. */
export function countIn(answer: unknown): number | undefined {
  const count = (value: unknown): number | undefined =>
    /^\d{1,15}$/.test(String(value)) && typeof value !== "object" ? Number(value) : undefined;
  return isObject(answer) ? valueOf(fieldsIn(answer), names.count, count) : count(answer);
}

/** Words of services for the states that matter. */
const words = {
  active: ["active", "activated", "running", "started", "enabled", "pinning"],
  inactive: ["inactive", "deactivated", "stopped", "disabled", "paused", "suspended"],
  deployed: ["deployed"],
  configured: ["configured", "unconfigured", "initial", "initialized", "setup", "created", "provisioned"],
};
const inOurWords = (state: unknown): ShownTether["state"] =>
  (Object.keys(words) as (keyof typeof words)[]).find((one) => isOneOf(words[one], state)) ??
  (conditionOf(state) === "pending" ? "configured" : undefined);

const hoursIn: Record<string, number> = { h: 1, m: 60, s: 3600 };

/** An interval in each unit that it may be in: the vendor's pages name hours and minutes. */
function intervalIn(fields: Fields): ShownTether["interval"] {
  const found = fields.flatMap(([name, value]) => {
    const [is, unitOfName] =
      /^(?:upload|pinning|pin)?interval(?:in)?(h|m|s)?(?:ours?|in(?:ute)?s?|ec(?:ond)?s?)?$/.exec(name) ?? [];
    const [, number, unit = unitOfName] = /^(\d+(?:\.\d+)?) ?(?:(h|m|s)[a-z]*)?$/i.exec(String(value)) ?? [];
    if (is === undefined || !(Number(number) > 0)) return [];
    const divisors = unit === undefined ? [1, 60] : [hoursIn[unit.toLowerCase()]!];
    return [
      { hours: divisors.map((one) => Number(number) / one), isUntold: unit === undefined && name !== "interval" },
    ];
  });
  const hours = found[0]?.hours.filter((one) => found.every((other) => other.hours.includes(one))) ?? [];
  return hours.length > 0 ? { hours, isUntold: found.every(({ isUntold }) => isUntold) } : undefined;
}

/** Nothing, in the words of contracts. */
const isNothing = (value: unknown): boolean => !value || /^((0x)?0*|false)$/.test(textOf(value) ?? "-");
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.trim().toLowerCase() : undefined;
const isHex = (value: unknown): boolean => typeof value === "string" && /^0x[0-9a-f]+$/i.test(value);
const hexIn = (value: unknown): string | undefined => (isHex(value) ? String(value).toLowerCase() : undefined);
const isContract = (value: unknown): boolean => value === true || isHex(value) || Number.isSafeInteger(value);

/** What a list or an object of contracts says, by network. */
function listedIn(value: unknown): NonNullable<ShownTether["listed"]> {
  const entry = (network: unknown, is: unknown): readonly [string, Fact] => {
    const own = isObject(is) ? (valueOf(fieldsIn(is), ["address", ...names.contract], hexIn) ?? "?") : is;
    const fact = isNothing(own) ? "no" : isContract(own) ? "yes" : "unclear";
    return typeof network === "string" && !isHex(network) ? [network.trim().toLowerCase(), fact] : ["", "unclear"];
  };
  const networkOf = (one: unknown): unknown => valueOf(fieldsIn(one), names.network, (given) => given);
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? entry(networkOf(one), one) : entry(one, true)));
  if (networkOf(value) !== undefined) return [entry(networkOf(value), value)];
  return Object.entries(fieldsOf(value)).map(([network, is]) => entry(network, is));
}

/** Reads what a call shows of a tether. */
export function tetherIn(answer: unknown): ShownTether {
  const fields = fieldsIn(answer);
  const flag = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
  const isActive = valueOf(fields, names.isActive, flag);
  const word = valueOf(fields, names.state, inOurWords);
  const isStated = fields.some(([name]) => names.state.includes(name));
  const ofContracts = fields.filter(([name]) => /contract|deploy|arbitrator/.test(name));
  const lists = ofContracts.filter(([, value]) => typeof value === "object");
  const single = ofContracts.filter(([, value]) => typeof value !== "object" && !isNothing(value));
  const isRead = ([name, value]: Fields[number]): boolean =>
    (names.contract.includes(name) && isHex(value)) || (names.isDeployed.includes(name) && value === true);
  const contracts = single.filter(isRead);
  return {
    network: valueOf(fields, names.network, textOf),
    interval: intervalIn(fields),
    state: isActive
      ? "active"
      : (word ?? valueOf(fields, names.status, inOurWords) ?? (isActive === false ? "inactive" : undefined)),
    contract:
      contracts.map(([, value]) => hexIn(value)).find((one) => one !== undefined) ??
      (contracts.length > 0 || undefined),
    listed: lists.length > 0 ? lists.flatMap(([, value]) => listedIn(value)) : undefined,
    unclear: [
      ...(isStated && word === undefined ? names.state : []),
      ...single.filter((one) => !isRead(one)).map(([, , written]) => written),
    ],
  };
}

/**
 * Whether an answer shows the contract on a network. undefined: it says nothing about that.
 * @param others networks that are known to have one @param elsewhere the address of the one on another network
 */
export function contractOn(
  { network: present, state, contract, listed, unclear }: ShownTether,
  network: string,
  others: readonly string[] = [],
  elsewhere?: ShownTether["contract"],
): Fact | undefined {
  const name = network.toLowerCase();
  const known = [...tetherNetworks, ...others, name, present].map((one) => one?.toLowerCase());
  const isElsewhere = typeof contract === "string" && contract === elsewhere;
  const isNew = others.length === 0 || (typeof contract === "string" && elsewhere !== undefined && !isElsewhere);
  const runs = state === "active" || state === "deployed";
  const tells = (contract !== undefined && !isElsewhere) || (runs && (others.length === 0 || present === name));
  const facts: (Fact | undefined)[] = [
    ...(listed ? ["no" as const] : []),
    ...(listed ?? []).map(([one, fact]) => (one === name ? fact : known.includes(one) ? undefined : "unclear")),
    tells && (present === undefined || present === name) ? (present === name && isNew ? "yes" : "unclear") : undefined,
    unclear.length > 0 ? "unclear" : undefined,
  ];
  return (["yes", "unclear", "no"] as const).find((fact) => facts.includes(fact));
}
