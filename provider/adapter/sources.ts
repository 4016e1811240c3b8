import { type SettingSources } from "../api/settings";
import { type Props } from "../core/definition";

/** Settings of one provider, by where they come from. */
export type Given = Required<Pick<SettingSources, "provider" | "stack">>;

/** Setting that the class `Provider` adds: which of the others the program gave it, and not the stack. */
export const ownKey = "own";

/** The engine makes a provider of this name out of stack configuration, where a program names none. */
export const isDefaultProvider = (name: string): boolean => /^default(_\d.*)?$/.test(name);

/**
 * The settings that a provider was registered with.
 * @param allOwn whether all are the provider's own where it does not say which: programs in other languages have no such class
 */
export function sourcesOf({ [ownKey]: own, ...settings }: Props, allOwn: boolean): Given {
  const names = typeof own === "string" ? own.split(",") : undefined;
  const pick = (mine: boolean): Props =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => (names?.includes(key) ?? allOwn) === mine));
  return { provider: pick(true), stack: pick(false) };
}
