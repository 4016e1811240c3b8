import { type Path } from "../yaml/problems";

/* What stands in a plan for values that are known when its resources are made. Imports nothing: programs load it with the package. */

/** What is named by the key that it has in the environment, in place of its id (`zoneId`); and where that key is. */
export const references = {
  zone: "zones",
  kms: "configurations",
  opsmetric: "configurations",
  backup: "configurations",
  networking: "configurations",
  nodeConfig: "configurations",
  baf: "configurations",
  idRegistry: "services",
} as const;

export type ReferenceName = keyof typeof references;

/** In the place of an id: what has this key in the environment. */
export class Reference {
  constructor(
    readonly name: ReferenceName,
    readonly key: string,
    readonly path: Path,
    /** The same entry says the id, too. */
    readonly hasId: boolean,
  ) {}
}

/** In the place of a value: that of an environment variable, which only those need who make the network. */
export class Variable {
  constructor(
    readonly name: string,
    readonly path: Path,
  ) {}
}
