import { isDeepStrictEqual } from "node:util";
import { type SettingSources } from "../api/settings";
import { type Props } from "../core/definition";

/** Settings of one provider, by where they come from. */
export type Given = Required<Pick<SettingSources, "provider" | "stack">>;

/**
 * Which of its settings are a provider's own, and not those of the stack. The class `Provider` lists them; packages that are made of
 * the schema say `allOwn`; what neither says, the plugin finds out when it checks a provider, and the state keeps it.
 */
export const ownKey = "own";
export const allOwn = "*";
export const noneOwn = "";

/** The engine gives such a name to the provider that it makes of stack configuration. A program may give it, too. */
const mayBeDefault = (name: string): boolean => /^default(_.+)?$/.test(name);

/**
 * Whether the engine made a provider itself, of what the stack's configuration says: then it has just those settings. One that a
 * program made says so, has another name, or has other settings.
 * @param stack the configuration of the stack, where the engine tells it
 */
export function isDefaultProvider(name: string, { [ownKey]: own, ...settings }: Props, stack?: Props): boolean {
  if (typeof own === "string") return own === noneOwn;
  return mayBeDefault(name) && (stack === undefined || isDeepStrictEqual(settings, stack));
}

/** The settings of a provider by where they come from. @param name for what was registered before `own` was kept */
export function sourcesOf({ [ownKey]: given, ...settings }: Props, name: string): Given {
  const own = typeof given === "string" ? given : mayBeDefault(name) ? noneOwn : allOwn;
  const pick = (mine: boolean): Props =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => (own === allOwn || own.split(",").includes(key)) === mine),
    );
  return { provider: pick(true), stack: pick(false) };
}
