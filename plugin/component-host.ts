import { type ComponentResourceOptions, type Inputs, output, type Output, secret } from "@pulumi/pulumi";
import * as provider from "@pulumi/pulumi/provider";
import { Network, type NetworkDefinition, type NetworkOutputs } from "../sdk";
import { isShownAgain, keepSecret } from "../sdk/network/load";
import { mapped } from "../sdk/network/make";
import { networkType, secretsKey } from "../provider/constants";
import { secretPaths } from "../provider/core/values";
import { type Props } from "../provider/core/definition";
import { version } from "../provider/version";

type Shown = NetworkOutputs[string]["environments"][string];

const withoutPasswords = (environment: Shown): object => ({
  ...environment,
  credentials: mapped(environment.credentials, ({ username }) => ({ username })),
});

/** The component's outputs. Secrets are a separate property: within another property, they would be shown. */
export const stateOf = ({ outputs }: { outputs: NetworkOutputs }): Inputs => ({
  consortia: mapped(outputs, (one) => ({ ...one, environments: mapped(one.environments, withoutPasswords) })),
  passwords: secret(
    mapped(outputs, ({ environments }) =>
      mapped(environments, ({ credentials }) => mapped(credentials, ({ password }) => password)),
    ),
  ),
});

/** The definition as plain data, without unknowns. */
const plain = (inputs: Inputs): Promise<NetworkDefinition & Props> =>
  new Promise((resolve) => void (output(inputs) as Output<NetworkDefinition & Props>).apply(resolve));

async function construct(name: string, type: string, inputs: Inputs, options: ComponentResourceOptions) {
  if (type !== networkType) throw new Error(`This plugin has no component ${type}.`);
  const { [secretsKey]: paths, ...definition } = await plain(inputs);
  const secrets = secretPaths({ [secretsKey]: paths });
  keepSecret(definition, secrets);
  const network = new Network(name, definition, options);
  const state = stateOf(network);
  // Pulumi loses secrets nested in a component's output, so the whole output is secret.
  return {
    urn: network.urn,
    state: secrets.some(isShownAgain) ? { ...state, consortia: secret(state.consortia) } : state,
  };
}

/** Serves only components. Ends with its input. @param left called then */
export function serveComponents(args: string[], left: () => void): Promise<void> {
  const end = (): void => {
    left();
    process.exit();
  };
  process.stdin.on("end", end).resume();
  return provider.main({ version, construct }, args);
}
