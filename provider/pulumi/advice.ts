import { type Advice, type KeyOrigin } from "../api/advice";
import { environmentName } from "../api/environment";

/* Advice in errors for users of Pulumi. The client's own advice does not mention Pulumi. */

const keyVariable = environmentName("apiKey");

/** Plain destroy and refresh use the key of the last update; what overrides it depends on its source. */
function replaceKey({ place }: KeyOrigin): string {
  if (place === "environment" || place === "fleet") return "set a valid one there.";
  const present = "add --run-program to destroy and refresh, which otherwise use the settings of the last update";
  if (place === "provider") return `give that Provider a valid one; ${present}.`;
  return `set a valid one, for example in ${keyVariable}, which takes precedence; or ${present}.`;
}

function useKeyOf(organization: string, key: KeyOrigin): string {
  if (key.place === "fleet") return `Correct the fleet file: the key must belong to ${organization}.`;
  if (key.place === "environment") return `Unset ${keyVariable}, or set it to a key of ${organization}.`;
  return `Use a key of ${organization}: ${replaceKey(key)}`;
}

export const pulumiAdvice: Advice = {
  setKey:
    `Set the environment variable ${keyVariable}, or run \`pulumi config set --secret consortium:apiKey\`, ` +
    "or give apiKey to a Provider (destroy and refresh then need --run-program).",
  allowHttp: `run \`pulumi config set consortium:allowHttp true\` (${environmentName("allowHttp")}, or allowHttp of the Provider)`,
  replaceKey,
  useKeyOf,
  correct: "Fix in the program what the service reports",
  again: "run the same command again",
};
