import { Config, RunError } from "@pulumi/pulumi";
import { environmentName, processEnvironment } from "../provider/api/environment";

const setting = "plugin";

/**
 * Whether the classes run on the provider plugin: only where the environment or the stack says so (`consortium:plugin`), since
 * the plugin has to be installed. Default: on the dynamic provider, which needs nothing.
 */
export function onPlugin(): boolean {
  const variable = environmentName(setting);
  const fromEnvironment = processEnvironment()[variable] || undefined;
  const text = fromEnvironment ?? new Config("consortium").get(setting) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  const source =
    fromEnvironment === undefined ? "Stack configuration consortium:plugin" : `Environment variable ${variable}`;
  throw new RunError(`${source} is "${text}": it must be true or false.`);
}
