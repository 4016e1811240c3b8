import { type Props } from "../core/definition";
import { secretsKey } from "../constants";

/** Keys and indexes from the properties down to a value. */
export type Path = readonly (string | number)[];

/** Where properties are secret, as the program's side or an adapter found. */
export const secretPaths = ({ [secretsKey]: paths }: Props): Path[] =>
  Array.isArray(paths) ? paths.filter((path): path is (string | number)[] => Array.isArray(path)) : [];

const at = (props: Props, path: Path): unknown =>
  path.reduce<unknown>((inner, step) => (inner as Props | null | undefined)?.[step], props);

export const valuesAt = (props: Props, paths: readonly Path[]): unknown[] => paths.map((path) => at(props, path));
