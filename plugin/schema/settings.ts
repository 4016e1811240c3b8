import { allOwn, ownKey, type SettingName } from "../../provider/api/settings";
import { environmentName } from "../../provider/api/environment";
import { type PropertySpec, type ResourceSpec } from "./model";

/** The settings of a provider, as stack configuration and explicit providers have them. */
const settings: Record<SettingName | "adopt", PropertySpec> = {
  apiKey: { type: "string", description: "API key of the organization; kept encrypted in the state.", secret: true },
  region: { type: "string", description: "Region of the service: `us`, `eu`, `ap` or `ko`. Default: `us`." },
  baseUrl: { type: "string", description: "Base address, which ends in `/api/v1`. Default: that of the region." },
  maxConcurrency: { type: "integer", description: "Most requests in flight at once. Default: 8." },
  requestTimeout: { type: "number", description: "Seconds that one request may take. Default: 30." },
  allowHttp: {
    type: "boolean",
    description:
      "Whether the key may go over a network in clear, to a base address that begins with `http://`. Default: `false`.",
  },
  organization: {
    type: "string",
    description: "Id of the organization that the key has to belong to. Default: the one that the state was made with.",
  },
  adopt: {
    type: "boolean",
    description: "Whether every resource adopts the object with its name, if there is one. Default: `false`.",
  },
};

const withVariables = (mark: (variable: string, spec: PropertySpec) => PropertySpec): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(settings).map(([name, spec]) => [name, mark(environmentName(name), spec)]));

/** SDKs add a constant by themselves. The engine does not, for the provider that it makes of stack configuration. */
const own: PropertySpec = {
  type: "string",
  const: allOwn,
  description: "Says that a program made this provider. Always `*`; leave it out.",
};

/** Settings of the stack: those of the default provider. */
export const configSpec = {
  variables: withVariables((variable, spec) => ({ ...spec, defaultInfo: { environment: [variable] } })),
};

/**
 * An explicit provider. The variables are no defaults of its arguments: SDKs would write them into the state as if they had been
 * given, where a key that was changed since would win over the new one.
 */
export function providerSpec(): ResourceSpec {
  const inputs = withVariables((variable, spec) => ({
    ...spec,
    description: `${spec.description} Environment variable: \`${variable}\`.`,
  }));
  return {
    description:
      "One organization, with its own key. Resources with this provider are managed with its settings; what it is not given comes " +
      "from the environment, then from stack configuration.",
    properties: { ...inputs, [ownKey]: own },
    inputProperties: { ...inputs, [ownKey]: own },
  };
}
