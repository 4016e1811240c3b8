import { type Path } from "../yaml/problems";

/* Placeholders in a plan for values that are known once its resources exist. Imports nothing: programs load it with the package. */

/** Arguments that name an object by its key in the environment instead of by its id (`zoneId`), with the section of the key. */
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

/** Stands for the id of the object with this key in the environment. */
export class Reference {
  constructor(
    readonly name: ReferenceName,
    readonly key: string,
    readonly path: Path,
    /** The same entry also gives the id, which is an error. */
    readonly hasId: boolean,
  ) {}
}

/** Stands for the value of an environment variable, which is read when the resources are created. */
export class Variable {
  constructor(
    readonly name: string,
    readonly path: Path,
  ) {}
}
