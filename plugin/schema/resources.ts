import { type Definition, type Props } from "../../provider/core/definition";
import { metaOf } from "../../provider/core/field";
import { dynamicPrefix } from "../../provider/constants";
import { examplesOf } from "./examples";
import { type PropertySpec, type ResourceSpec } from "./model";
import { type Fields, type Types } from "./types";

/** Besides its type: what the definition says of a property. */
function marks(fields: Fields, key: string): Partial<PropertySpec> {
  const { replace, secret } = metaOf(fields[key]!);
  return {
    ...(replace && { replaceOnChanges: true, willReplaceOnChanges: true }),
    ...(secret && { secret: true }),
  };
}

const marked = (fields: Fields, properties: Record<string, PropertySpec>): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(properties).map(([key, spec]) => [key, { ...spec, ...marks(fields, key) }]));

const isOptional = (fields: Fields, key: string): boolean => fields[key]!.safeParse(undefined).success;

/** The engine has time-outs of its own; what the dynamic provider needs for them is no argument here. */
const argumentsOf = ({ inputs }: Definition): Fields =>
  Object.fromEntries(Object.entries(inputs.shape).filter(([key]) => key !== "customTimeouts"));

/** Arguments that default to the name of the resource. */
const isNamed = (definition: Definition, key: string): boolean => key === "name" || key === definition.naming;

/** What is there once the object is: all but arguments that may be left out, for which nobody chooses a value. */
function isCertain(definition: Definition, inputs: Fields, key: string): boolean {
  const schema = inputs[key];
  if (!schema || !isOptional(inputs, key) || metaOf(schema).computed) return true;
  return (schema.parse(undefined) as Props | undefined) !== undefined;
}

export function resourceSpec(definition: Definition, types: Types): ResourceSpec {
  const { type, doc } = definition;
  const inputs = argumentsOf(definition);
  const all: Fields = { ...inputs, ...definition.outputs.shape };
  const warning = definition.replaceWarning;
  // Written in several forms, a value is read in one: that is its type.
  const given = types.properties(type, inputs, { io: "output" });
  return {
    description: [doc, ...(warning ? [`> **${warning}.**`] : []), examplesOf(type)].join("\n\n"),
    properties: marked(all, types.properties(type, all, { io: "output", whole: true })),
    required: Object.keys(all).filter((key) => isCertain(definition, inputs, key)),
    inputProperties: marked(inputs, given),
    requiredInputs: Object.keys(inputs).filter((key) => !isOptional(inputs, key) && !isNamed(definition, key)),
    aliases: [{ type: dynamicPrefix + type }],
  };
}
