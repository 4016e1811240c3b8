/* A small program as data: languages.ts writes it in every language. */

/** An output of a resource, such as `urls.rpc` of `grower-1`. */
export class Ref {
  constructor(
    readonly name: string,
    readonly path: string,
  ) {}
}

/** What a lookup of the program has found, such as `nodes`. */
export class Found extends Ref {}

/** A value of one of the schema's enums. */
export class Choice {
  constructor(
    readonly type: string,
    readonly value: string,
  ) {}
}

/** An object of one of the schema's types. */
export class Typed {
  constructor(
    readonly type: string,
    readonly fields: Fields,
  ) {}
}

/** Text, numbers, references, lists, and mappings of keys to these. */
export type Value = string | number | Ref | Choice | Typed | Value[] | { [key: string]: Value };
export type Fields = Record<string, Value>;

export interface Part {
  type: string;
  /** Logical name: languages make the name of the variable of it. */
  name: string;
  args: Fields;
  dependsOn?: string[];
  /** What stands above it, and above what follows. */
  comment?: string;
}

/** A lookup, as a variable. */
export interface Look {
  /** The name of the variable. */
  name: string;
  lookup: string;
  args: Fields;
  /** The key of its list, which TypeScript's form of it answers by itself. */
  list?: string;
}

export interface Program {
  parts: Part[];
  lookups?: Look[];
  outputs: Fields;
}

/** Whether something in the program refers to the resource. */
export const isUsed = ({ parts, outputs }: Program, name: string): boolean => {
  const refers = (value: Value): boolean =>
    value instanceof Ref
      ? value.name === name
      : value instanceof Typed
        ? refers(value.fields)
        : typeof value === "object" && !(value instanceof Choice) && Object.values(value).some(refers);
  return refers(outputs) || parts.some(({ args, dependsOn }) => refers(args) || dependsOn?.includes(name));
};
