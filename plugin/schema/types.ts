import { z } from "zod";
import { docOf } from "../../provider/core/field";
import { pluginPrefix } from "../../provider/constants";

/* Pulumi's package schema, as far as this package uses it. */

export interface TypeSpec {
  type?: string;
  $ref?: string;
  items?: TypeSpec;
  additionalProperties?: TypeSpec;
  oneOf?: TypeSpec[];
}

export interface PropertySpec extends TypeSpec {
  description?: string;
  default?: unknown;
  const?: unknown;
  defaultInfo?: { environment: string[] };
  secret?: boolean;
  replaceOnChanges?: boolean;
  willReplaceOnChanges?: boolean;
}

export interface ObjectSpec {
  description?: string;
  type?: "object";
  properties?: Record<string, PropertySpec>;
  required?: string[];
}

export interface EnumSpec {
  description?: string;
  type: "string";
  enum: { name: string; value: string }[];
}

export interface ResourceSpec extends ObjectSpec {
  isComponent?: boolean;
  inputProperties?: Record<string, PropertySpec>;
  requiredInputs?: string[];
  listInputs?: ObjectSpec;
  aliases?: { type: string }[];
}

export interface FunctionSpec {
  description: string;
  inputs: ObjectSpec;
  outputs: ObjectSpec;
}

export interface PackageSpec {
  name: string;
  version: string;
  config: { variables: Record<string, PropertySpec> };
  types: Record<string, ObjectSpec | EnumSpec>;
  provider: ResourceSpec;
  resources: Record<string, ResourceSpec>;
  functions: Record<string, FunctionSpec>;
  [about: string]: unknown;
}

/** A JSON schema, as zod writes it. */
interface Json {
  type?: string;
  $ref?: string;
  $defs?: Record<string, Json>;
  description?: string;
  default?: unknown;
  enum?: string[];
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
  required?: string[];
  additionalProperties?: Json | boolean;
}

export interface Use {
  /** Whether programs write it or read it. */
  io: "input" | "output";
  /** Whether objects are complete, although a service may leave fields out. */
  whole?: boolean;
}

/** Schemas by key. Less deep than zod's own type, so that any shape fits. */
export type Fields = Record<string, z.ZodType>;

export const token = (name: string): string => pluginPrefix + name;

const anything: TypeSpec = { $ref: "pulumi.json#/Any" };

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A zod schema as JSON schema, with the descriptions of its fields. */
export const described = (schema: z.ZodType, options: Pick<Use, "io">): object =>
  z.toJSONSchema(schema, {
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const doc = docOf(zodSchema as unknown as z.ZodType);
      if (doc !== undefined) jsonSchema.description = doc;
    },
    ...options,
  });

/** Derives the types of Pulumi's schema from zod schemas. Enums and objects in them get a name each. */
export class Types {
  readonly specs: Record<string, ObjectSpec | EnumSpec> = {};
  readonly #enums = new Map<string, string>();

  /** @param rename gives the name of an object by the id of its zod schema */
  constructor(private readonly rename: (id: string) => string = (id) => id) {}

  /** Properties with types and descriptions. A type without a name of its own is named after its owner and its property. */
  properties(owner: string, fields: Fields, use: Use): Record<string, PropertySpec> {
    const { properties = {} } = this.#read(fields, use);
    return Object.fromEntries(
      Object.entries(properties).map(([key, json]) => [key, this.#property(owner + capital(key), json, use)]),
    );
  }

  /** An object. Its fields may be missing if the schema says so. */
  object(owner: string, fields: Fields, use: Use): ObjectSpec {
    const { required = [] } = this.#read(fields, use);
    return {
      type: "object",
      properties: this.properties(owner, fields, use),
      ...(required.length > 0 && { required }),
    };
  }

  /** The type of one value. */
  type(owner: string, schema: z.ZodType, use: Use): TypeSpec {
    return this.#type(owner, this.#read({ schema }, use).properties!.schema!, use);
  }

  #read(fields: Fields, use: Use): Json {
    const json = described(z.object(fields), { io: use.io }) as Json;
    for (const [id, definition] of Object.entries(json.$defs ?? {})) this.#define(this.rename(id), definition, use);
    return json;
  }

  #define(name: string, { description, properties = {}, required = [] }: Json, use: Use): void {
    if (this.specs[token(name)]) return;
    const spec: ObjectSpec = { ...(description && { description }), type: "object" };
    this.specs[token(name)] = spec; // set before its contents, which may refer to it
    spec.properties = Object.fromEntries(
      Object.entries(properties).map(([key, json]) => [key, this.#property(name + capital(key), json, use)]),
    );
    const certain = use.whole ? Object.keys(properties) : required;
    if (certain.length > 0) spec.required = certain;
  }

  #property(name: string, json: Json, use: Use): PropertySpec {
    const { description, default: fallback } = json;
    return {
      ...this.#type(name, json, use),
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
    };
  }

  #type(name: string, json: Json, use: Use): TypeSpec {
    if (json.$ref !== undefined) return this.#named(this.rename(json.$ref.split("/").at(-1)!));
    if (json.enum) return this.#named(this.#enum(name, json));
    if (json.anyOf) return this.#union(name, json.anyOf, use);
    if (json.type === "array") return { type: "array", items: this.#type(name, json.items!, use) };
    if (json.type !== "object") return json.type === undefined ? anything : { type: json.type };
    if (!json.properties) {
      const { additionalProperties: member } = json;
      const isOpen = typeof member !== "object" || Object.keys(member).length === 0;
      return { type: "object", additionalProperties: isOpen ? anything : this.#type(name, member, use) };
    }
    this.#define(name, { ...json, description: undefined }, use);
    return this.#named(name);
  }

  #named(name: string): TypeSpec {
    return { $ref: `#/types/${token(name)}` };
  }

  /** null stands for an entry without settings, which languages have no form for. */
  #union(name: string, members: Json[], use: Use): TypeSpec {
    const forms = members.filter(({ type }) => type !== "null").map((member) => this.#type(name, member, use));
    const text = forms.find(({ type }) => type === "string");
    // A value that may also be a number is a large number.
    if (text && forms.every(({ type }) => type === "string" || type === "integer")) return text;
    return forms.length === 1 ? forms[0]! : { oneOf: forms };
  }

  /** Equal values are the same enum, wherever they occur. */
  #enum(name: string, { enum: values = [] }: Json): string {
    const key = values.join();
    const known = this.#enums.get(key);
    if (known !== undefined) return known;
    this.#enums.set(key, name);
    this.specs[token(name)] = { type: "string", enum: values.map((value) => ({ name: capital(value), value })) };
    return name;
  }
}
