import { type Path } from "./problems";

/** Something that is wrong, before it is known how its place is written for people. */
export interface Found {
  path: Path;
  message: string;
  /** The key itself is wrong, and not its value. */
  atKey?: boolean;
  /** Not said if this part of the definition, or an entry in it, is wrong as a whole, which may be the reason. */
  unless?: Path;
  /** Where in the text, where no path leads there. */
  offset?: number;
}

/** Whether a path leads to a place, or into it. */
export const isWithin = (path: Path, place: Path): boolean => place.every((step, index) => step === path[index]);

/** A definition that was read: as plain data, with what was wrong already, and the places of its values. */
export interface Reading {
  value: unknown;
  found: Found[];
  /** Name of the file, as it was given; undefined for a definition in the program. */
  file?: string;
  /** From 1; undefined where there is no text. */
  position(found: Found): { line: number; column: number } | undefined;
  /** How a value is written in the text, where that is not how it is shown: `007`. */
  source?: (path: Path) => string | undefined;
}

/** Values that a definition may hold, aliases, merges and shared objects counted each time: a network has some hundred. */
export const mostValues = 100_000;

/** Nobody nests that deep; parsers call themselves for each level, and would end the process. */
export const mostLevels = 200;

/** Keys that JavaScript has for every object: they are refused, so that a key is only ever what was written. */
export const isReserved = (key: string): boolean => key in Object.prototype;

export const reservedText = (key: string): string =>
  `"${key}" cannot be a key: JavaScript uses that name itself. Choose another one`;
export const tooManyText = `the definition has more than ${mostValues} values, aliases and merges counted each time`;
export const tooDeepText = "it is nested too deeply";
export const cycleText = "it contains itself";
