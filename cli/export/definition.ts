import { type z } from "zod";
import { brokenTexts, printable } from "../../provider/api/printable";
import { consensusOf, otherPrefix } from "../../provider/constants";
import { type Definition, inputKeys, inputMeta, nameKey } from "../../provider/core/definition";
import { definitions } from "../../provider/resources";
import { adopt, description, nameText } from "../../provider/resources/fields";
import { type Found, inside, type ListedKind } from "../../provider/resources/tree";
import { type NetworkDefinition, type NetworkNode } from "../../sdk";
import { type ReferenceName, references } from "../../sdk/network/references";
import { nodeSettings, usualLimits } from "../../sdk/network/schema";

/** A note on a part of the file. */
export interface Remark {
  path: (string | number)[];
  text: string;
}

export interface Exported {
  definition: NetworkDefinition;
  remarks: Remark[];
}

/** The definition of an existing network. With `adopt`, every entry adopts its object by id. */
export function definitionOf(found: Found, options: { adopt: boolean }): Exported {
  return new Exporter(found, options.adopt).run();
}

/** Keys by the ids of their objects, for the parts of an environment that others refer to. */
type Keys = Record<(typeof references)[ReferenceName], ReadonlyMap<string, string>>;

/** An entry of the file. */
type Entry = Record<string, unknown>;

class Exporter {
  private readonly remarks: Remark[] = [];
  private readonly taken = new Set<string>();
  private readonly memberKeys: Map<string, string>;

  constructor(
    private readonly found: Found,
    private readonly adopt: boolean,
  ) {
    this.memberKeys = keysOf(inside(found, "membership"), "membership");
  }

  run(): Exported {
    const consortium = this.found;
    if (consortium.ofOthers !== undefined) this.remark([], ofOtherOrganization(consortium.ofOthers));
    const key = keysOf([consortium], "consortium").get(consortium.id)!;
    const definition: NetworkDefinition = {
      name: key,
      ...this.limits(),
      consortium: {
        name: this.named(consortium.props.name, key, ["consortium"]),
        ...this.described(consortium, ["consortium"]),
        ...this.adopted(consortium, ["consortium"]),
      },
      ...this.group("members", "membership", consortium, [], () => ({})).entries,
      ...this.group("zones", "consortiumZone", consortium, [], (zone, at) => this.zone(zone, at)).entries,
      ...this.group("invitations", "invitation", consortium, [], ({ props: { email } }) => ({ email })).entries,
      ...this.group("environments", "environment", consortium, [], (one, at) => this.environment(one, at)).entries,
    };
    return { definition, remarks: this.remarks };
  }

  private environment(environment: Found, path: string[]): Entry {
    const { provider, consensusType, chainId, enableTether } = environment.props;
    const credentials = inside(environment, "appCred");
    if (environment.unlisted?.includes("appCred"))
      this.remark([...path, "credentials"], "the service does not list credentials");
    if (credentials.length > 0) {
      const ids = credentials.map(({ id }) => id).join(", ");
      this.remark([...path, "credentials"], `not exported, because only their holders know the passwords: ${ids}`);
    }
    if (enableTether) {
      this.remark(
        path,
        "a tether is enabled, but the service shows neither its id nor its settings: set tether: once you know them",
      );
    }
    const settings = {
      ...this.described(environment, path),
      provider: marked("provider", provider),
      consensusType: marked("consensusType", consensusType),
      ...(chainId !== undefined &&
        this.valid(
          "chainId",
          fieldOf(definitions.environment, "chainId"),
          chainId,
          path,
          `an invalid chain id: ${chainId}`,
        )),
      ...this.period(environment),
    };
    const { parts, keys } = this.parts(environment, path);
    const nodes = this.nodes(environment, path, keys);
    return { ...settings, ...parts, nodes, credentials: [] };
  }

  /** The contents of an environment besides nodes and credentials. */
  private parts(environment: Found, path: string[]): { parts: Entry; keys: Keys } {
    const zones = this.group("zones", "environmentZone", environment, path, (zone, at) => this.zone(zone, at));
    const configurations = this.group("configurations", "configuration", environment, path, ({ props }, at) => {
      const what = this.adopt ? "they stay as they are" : "set details:, or the copy has none";
      this.remark(at, `the service does not show its details: ${what}`);
      return { type: props.type };
    });
    const keys = { zones: zones.keys, configurations: configurations.keys, services: new Map<string, string>() };
    const services = this.group("services", "service", environment, path, (one, at) => ({
      service: one.props.service,
      ...this.settingsOf(definitions.service, one, ["zoneId", "size"], keys, at),
      ...this.destinations(one, at),
    }));
    const parts = { ...zones.entries, ...configurations.entries, ...services.entries };
    return { parts, keys: { ...keys, services: services.keys } };
  }

  /** The objects of a kind, each under its key. Leaves out objects that lack a required setting. */
  private group(
    name: string,
    kind: ListedKind,
    owner: Found,
    path: string[],
    settings: (item: Found, at: string[]) => Entry,
  ): { entries: Entry; keys: ReadonlyMap<string, string> } {
    const definition: Definition = definitions[kind];
    const all = keysOf(inside(owner, kind), kind);
    const keys = new Map<string, string>();
    const made = inside(owner, kind).flatMap((item): [string, Entry][] => {
      const key = all.get(item.id)!;
      const member = this.memberKeys.get(item.props.membershipId ?? "");
      const isOwned = kind === "configuration" || kind === "service" || kind === "node";
      const at = [...path, name, ...(kind === "node" && member !== undefined ? [member] : []), key];
      const missing = neededBy(definition).filter((one) => !isValid(fieldOf(definition, one), item.props[one]));
      const lacks = [...missing, ...(isOwned && member === undefined ? ["which member owns it"] : [])];
      const what = `the ${definition.title} ${item.id} is left out`;
      if (lacks.length > 0) {
        this.remark([...path, name], `${what}: the service does not show ${lacks.join(" and ")}`);
        return [];
      }
      if (kind === "environment" && !isSupported(item)) {
        const { provider, consensusType } = item.props;
        this.remark([], `${what}: the client "${provider}" with "${consensusType}" is not supported`);
        return [];
      }
      keys.set(item.id, key);
      const nameAs = nameKey(definition)!;
      const own = this.named(item.props[nameAs] as string | undefined, key, at);
      const head = { ...(isOwned && { member }), ...(own !== key && { [nameAs]: own }) };
      return [[key, { ...head, ...this.adopted(item, at), ...settings(item, at) }]];
    });
    return { entries: made.length > 0 ? { [name]: Object.fromEntries(made) } : {}, keys };
  }

  private zone({ props: { region, cloud, type, bridgeId } }: Found, at: string[]): Entry {
    if (typeof bridgeId === "string" && !this.adopt)
      this.remark(
        at,
        `bridgeId ${bridgeId} is left out, because it belongs to the environment: set bridgeId: of the copy`,
      );
    const { type: field } = definitions.environmentZone.inputs.shape;
    return {
      region,
      cloud,
      ...(type !== "kaleido" && isValid(field as z.ZodType, type) && { type }),
      ...(bridgeId !== undefined && this.adopt && { bridgeId }),
    };
  }

  private destinations(service: Found, path: string[]): Entry {
    if (service.props.details !== undefined && !this.adopt)
      this.remark(path, "its details are left out, because they may be secret: set details: if the copy needs them");
    if (service.unlisted?.includes("destination")) this.remark(path, "the service does not show its destinations");
    const { entries } = this.group("destinations", "destination", service, path, ({ props }) =>
      props.kaleidoManaged === false ? { kaleidoManaged: false } : {},
    );
    if ("destinations" in entries && !this.adopt)
      this.remark(
        [...path, "destinations"],
        "destinations of a copy need idRegistry:, and testCertificate: or a verified member",
      );
    return entries;
  }

  /** The nodes, by the keys of their members. */
  private nodes(environment: Found, path: string[], references: Keys): Record<string, Record<string, NetworkNode>> {
    const { entries } = this.group("nodes", "node", environment, path, (node, at) =>
      this.settingsOf(definitions.node, node, nodeSettings, references, at),
    );
    const byMember: Record<string, Record<string, NetworkNode>> = {};
    for (const [key, { member, ...node }] of Object.entries(
      (entries.nodes ?? {}) as Record<string, { member: string }>,
    ))
      byMember[member] = { ...byMember[member], [key]: node };
    return byMember;
  }

  /** The name, or the key in its place if the name is not valid or not unique. */
  private named(name: string | undefined, key: string, path: string[]): string {
    if (name !== undefined && isValid(nameField, name)) {
      if (this.adopt || this.isFirst(name, path)) return name;
      this.remark(path, `another object is also called ${name}: \`up\` names this one ${key}`);
      return key;
    }
    this.remark(path, `the service shows no valid name: \`up\` names the object ${key}`);
    return key;
  }

  /** Whether the name is free among the siblings. */
  private isFirst(name: string, path: string[]): boolean {
    const place = JSON.stringify([
      path.includes("nodes") ? path.slice(0, 3) : path.slice(0, -1),
      name.normalize("NFC").trim(),
    ]);
    if (this.taken.has(place)) return false;
    this.taken.add(place);
    return true;
  }

  private adopted({ id }: Found, path: string[]): Entry {
    return this.adopt ? this.valid("adopt", adoptField, id, path, "no valid id: it is not adopted") : {};
  }

  private described({ props: { description } }: Found, path: string[]): Entry {
    const invalid = "no valid description: `up` removes it";
    return description ? this.valid("description", descriptionField, description, path, invalid) : {};
  }

  /** The setting, if a program can set the value that the service shows; otherwise a remark says what it shows. */
  private valid(key: string, schema: z.ZodType, value: unknown, path: string[], otherwise: string): Entry {
    if (isValid(schema, value)) return { [key]: value };
    this.remark(path, `the service shows ${otherwise}`);
    return {};
  }

  /** For a copy. An existing environment keeps its period, whether or not the program sets it. */
  private period({ props: { blockPeriod } }: Found): { blockPeriod?: number } {
    if (this.adopt || typeof blockPeriod !== "number") return {};
    return isValid(fieldOf(definitions.environment, "blockPeriod"), blockPeriod) ? { blockPeriod } : {};
  }

  /**
   * The settings of a node or a service, without the service's defaults. Parts of the environment are named by their keys if they
   * are in the file; otherwise a copy cannot have them.
   */
  private settingsOf(
    definition: Definition,
    { props }: Found,
    settings: readonly string[],
    keys: Keys,
    path: string[],
  ): Entry {
    const shown = settings.filter(
      (key) => props[key] !== undefined && props[key] !== defaults[key as keyof NetworkNode],
    );
    const keyed = shown.flatMap((setting): [setting: string, name: string, key: string][] => {
      const name = setting.replace(/Id$/, "");
      const key = name in references ? keys[references[name as ReferenceName]].get(String(props[setting])) : undefined;
      return key === undefined ? [] : [[setting, name, key]];
    });
    const others = shown.filter((setting) => !keyed.some(([one]) => one === setting));
    const bound = this.adopt ? [] : others.filter((key) => key.endsWith("Id"));
    if (bound.length > 0) {
      const names = bound.map((key) => `${key} ${String(props[key])}`).join(", ");
      this.remark(path, `left out, because the objects belong to the environment: ${names}. Set those of the copy`);
    }
    const plain = others.filter((key) => !bound.includes(key));
    for (const key of plain.filter((key) => !isValid(fieldOf(definition, key), props[key])))
      this.remark(path, `the service shows an invalid ${key}, which is left out`);
    const given = plain.filter((key) => isValid(fieldOf(definition, key), props[key]));
    return Object.fromEntries([
      ...given.map((key) => [key, props[key]] as const),
      ...keyed.map(([, name, key]) => [name, key] as const),
    ]);
  }

  /** The limits, if the network is larger than the service usually allows. */
  private limits(): Pick<NetworkDefinition, "limits"> {
    const environments = inside(this.found, "environment");
    const nodesPerEnvironment = Math.max(0, ...environments.map((one) => inside(one, "node").length));
    const limits = {
      ...(environments.length > usualLimits.environmentsPerConsortium && {
        environmentsPerConsortium: environments.length,
      }),
      ...(nodesPerEnvironment > usualLimits.nodesPerEnvironment && { nodesPerEnvironment }),
    };
    return Object.keys(limits).length > 0 ? { limits } : {};
  }

  /** In one line: a line break would end the comment. */
  private remark(path: string[], text: string): void {
    this.remarks.push({ path, text: printable(text) });
  }
}

/** The remark on a consortium of another organization. */
export const ofOtherOrganization = (owner: string): string =>
  `the consortium belongs to the organization ${owner}: the file has only your own members and what they own`;

const fieldOf = ({ inputs }: Definition, key: string): z.ZodType => inputs.shape[key] as z.ZodType;

/** The required settings of an entry that do not follow from its place and key. */
const neededBy = (definition: Definition): string[] =>
  inputKeys(definition).filter((key) => {
    const { parent } = inputMeta(definition, key) ?? {};
    return parent === undefined && key !== nameKey(definition) && !isValid(fieldOf(definition, key), undefined);
  });

/** Defaults of the service (spec, section 2.4). */
const defaults: NetworkNode = { role: "validator" };

const nameField = nameText("name");
const adoptField = adopt();
const descriptionField = description();

/** Whether a program can set the value that the service shows. */
const isValid = (schema: z.ZodType, value: unknown): boolean =>
  schema.safeParse(value).success && brokenTexts(value).length === 0;

/** Whether a program can have an environment with this client and consensus protocol. */
export const isSupported = ({ props: { provider = "", consensusType = "" } }: Found): boolean =>
  provider !== "" && consensusType !== "" && (consensusOf[provider]?.includes(consensusType) ?? true);

/** The value as a file has it: one that is not known is meant. */
const marked = (key: string, value: string | undefined): string | undefined =>
  value === undefined || inputMeta(definitions.environment, key)!.known!.includes(value) ? value : otherPrefix + value;

const longest = 40;

/** A name reduced to the characters of a key: `Globex & Co.` becomes `Globex-Co`. */
function plain(name: string): string {
  const ascii = name.normalize("NFKD").replace(/\p{M}+/gu, "");
  const slug = ascii.replace(/[^A-Za-z0-9._]+/g, "-").slice(0, longest);
  return slug.replace(/^[-._]+|[-._]+$/g, "");
}

/** What a key without a name begins with, if not with the title of the kind. */
const words: Partial<Record<ListedKind, string>> = { consortium: "network", membership: "member" };

/** A key of digits would be a number in YAML, and JavaScript would sort it first. */
const worded = (slug: string, kind: string) => (/^\d+$/.test(slug) ? `${kind}-${slug}` : slug);

interface Sibling {
  id: string;
  props: { name?: string; orgName?: string };
}

/**
 * A key for each sibling, made from its name, and from its id if the name is not enough. Other siblings change a key only if their names
 * are alike; their order never does.
 */
export function keysOf(siblings: readonly Sibling[], kind: ListedKind): Map<string, string> {
  const word = words[kind] ?? definitions[kind].title;
  const slugs = siblings.map(({ id, props }) => ({ id, slug: worded(plain(props.name ?? props.orgName ?? ""), word) }));
  const taken = (slug: string): number => slugs.filter((one) => one.slug.toLowerCase() === slug.toLowerCase()).length;
  const used = new Set<string>();
  /** Even ids may be alike in the characters that a key may have. */
  const unique = (key: string): string => {
    let own = key;
    for (let count = 2; used.has(own.toLowerCase()); count++) own = `${key}-${count}`;
    used.add(own.toLowerCase());
    return own;
  };
  return new Map(
    slugs.map(({ id, slug }) => {
      const usable = slug !== "" && !(slug in Object.prototype);
      return [id, unique(usable && taken(slug) === 1 ? slug : `${usable ? slug : word}-${plain(id) || "unnamed"}`)];
    }),
  );
}
