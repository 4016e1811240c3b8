/* The form of Pulumi's package schema, as far as this package uses it. */

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
