import { Config, getProject, log, RunError, runtime } from "@pulumi/pulumi";
import type * as Suggest from "../provider/core/suggest";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { settingNames } from "./generated";

const setting = "plugin";

/** What the stack's configuration may say of this package. */
const known: readonly string[] = [...settingNames, "adopt", setting];
const warned = new Set<string>();

/** @throws for a key that is no setting: a misspelt one would leave the region, say, to the default */
function refuseUnknownSettings(): void {
  const keys = Object.keys(runtime.allConfig()).flatMap((key) =>
    key.startsWith("consortium:") ? [key.slice("consortium:".length)] : [],
  );
  const strangers = keys.filter((key) => !known.includes(key) && !warned.has(key));
  if (strangers.length === 0) return;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- for the error alone, and errors are thrown at once
  const { nearest, unknownSetting } = require("../provider/core/suggest") as typeof Suggest;
  const [first = ""] = strangers;
  if (getProject() !== "consortium") throw new RunError(unknownSetting(first, known));
  // The project itself has keys in this namespace: one that looks like a setting may still be misspelt.
  for (const key of strangers) {
    warned.add(key);
    if (nearest(key, known) !== undefined) void log.warn(unknownSetting(key, known));
  }
}

/**
 * Whether the classes run on the provider plugin: only where the environment or the stack says so (`consortium:plugin`), since
 * the plugin has to be installed. Default: on the dynamic provider, which needs nothing.
 */
export function onPlugin(): boolean {
  refuseUnknownSettings();
  const variable = environmentName(setting);
  const fromEnvironment = processEnvironment()[variable] || undefined;
  const text = fromEnvironment ?? new Config("consortium").get(setting) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const source =
    fromEnvironment === undefined ? "Stack configuration consortium:plugin" : `Environment variable ${variable}`;
  throw new RunError(`${source} is "${text}": it must be true or false.`);
}
