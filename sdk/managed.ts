import { CustomResource, type CustomResourceOptions, type Input, RunError, runtime } from "@pulumi/pulumi";
import { printable } from "../provider/api/printable";
import { previewKey } from "../provider/adapter/keys";
import { stub } from "../provider/dynamic/stub";
import { durationSeconds, dynamicPrefix } from "../provider/facts";

import { facts } from "./generated";

export type Kind = keyof typeof facts;

/** The type token of a resource class, for policies and states. */
export const token = (kind: Kind): string => dynamicPrefix + kind;

/** What to do in place of Pulumi's import, for a kind that cannot be adopted. */
const insteadOfImport: Partial<Record<Kind, string>> = {
  AppCred:
    "A credential that exists cannot be read again, since its password is shown only once: leave the option out to make a new one.",
  TetherService: "A tether service is always one that exists already: leave the option out, its tetherId says which.",
};

/** @throws where Pulumi would read the resource without the provider that is in its inputs, and crash. */
function refuseImport(kind: Kind, name: string, { import: id }: CustomResourceOptions = {}): void {
  if (id === undefined) return;
  const known = typeof id === "string" ? printable(id) : "<id>";
  const adopt = `Set the argument adopt: "${known}" instead; for a whole network, use \`consortium export --adopt\`.`;
  const why = "Pulumi's option import does not work for dynamic resources.";
  throw new RunError(`${kind} ${name}: ${why} ${insteadOfImport[kind] ?? adopt}`);
}

/** The resource option in seconds, for the inputs: the host does not hand the option on to the provider. */
function timeoutInputs(name: string, opts?: CustomResourceOptions): Record<string, number> | undefined {
  const given = Object.entries(opts?.customTimeouts ?? {}).filter(([, text]) => text !== undefined);
  if (given.length === 0) return undefined;
  const seconds = given.map(([verb, text]) => {
    const found = durationSeconds(String(text));
    if (found !== undefined) return [verb, found];
    throw new RunError(
      `${name}: customTimeouts.${verb}: "${text}" is not a duration. Write it like 90s, 10m or 1h30m.`,
    );
  });
  return Object.fromEntries(seconds) as Record<string, number>;
}

/** What all resources of this package share: the inputs go to the provider process under flat names. */
export abstract class Managed extends CustomResource {
  protected constructor(
    kind: Kind,
    name: string,
    inputs: Record<string, Input<unknown>>,
    opts?: CustomResourceOptions,
  ) {
    refuseImport(kind, name, opts);
    const { handler, outputs, secrets } = facts[kind];
    const unset = Object.fromEntries(outputs.map((key) => [key, undefined]));
    const props = { ...unset, ...inputs, customTimeouts: timeoutInputs(name, opts), __provider: stub(handler) };
    if (runtime.isDryRun() && inputs.adopt !== undefined) Object.assign(props, { [previewKey]: true });
    super(token(kind), name, props, {
      ...opts,
      additionalSecretOutputs: [...(opts?.additionalSecretOutputs ?? []), ...secrets],
    });
  }
}

/** Options to read what is not managed by this stack, for the `get` of each class. */
export const external = (id: Input<string>, opts?: CustomResourceOptions): CustomResourceOptions => ({ ...opts, id });
