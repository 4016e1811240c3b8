import {
  CheckFailure,
  type CheckRequest,
  CheckResponse,
  type ConfigureRequest,
  type DiffRequest,
  DiffResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { type Given, isDefaultProvider, ownKey, sourcesOf } from "../adapter/sources";
import { isUnknown } from "../adapter/unknown";
import { resolveSettings, settingNames, type SettingSources } from "../api";
import { adoptsAll, NoKeyError, SettingsError } from "../api/settings";
import { type Issue, type Props } from "../core/definition";
import { sameValue } from "../core/diff";
import { didYouMean } from "../core/suggest";
import { type Received, received, sent } from "./properties";

const known: readonly string[] = [...settingNames, "adopt"];
/** What the engine and the SDKs add. */
const isAdded = (key: string): boolean => key === "version" || key === "pluginDownloadURL" || key.startsWith("__");

/** The settings of one provider, and where they come from: stack configuration, or an explicit provider. */
export class Configuration {
  readonly #props: Props;
  readonly #isDefault: boolean;
  readonly #sources: Given;

  constructor(urn: string, props: Props) {
    this.#props = props;
    this.#isDefault = isDefaultProvider(urn.split("::").slice(3).join("::"));
    this.#sources = sourcesOf(props, !this.#isDefault);
  }

  static of(request: ConfigureRequest): Configuration {
    const variables = request.getVariablesMap().toArray();
    const { props } = received(request.getArgs());
    const named: Props = Object.fromEntries(variables.map(([key, value]) => [key.replace(/^.*:/, ""), value]));
    return new Configuration(request.getUrn() ?? "", { ...named, ...props });
  }

  sources(): SettingSources {
    return this.#sources;
  }

  /** Settings that there are not. Stack configuration of this name may also be that of a project called consortium. */
  #strangers(): Issue[] {
    if (this.#isDefault) return [];
    const strangers = Object.keys(this.#props).filter((key) => ![...known, ownKey].includes(key) && !isAdded(key));
    return strangers.map((key) => ({
      property: "", // of a misspelt key the engine would print the value
      reason: `the provider has no setting "${key}"${didYouMean(key, known) || `. Its settings are ${known.join(", ")}.`}`,
    }));
  }

  /** What cannot be used, by setting; a value that is not known yet is none. */
  issues(): Issue[] {
    const strangers = this.#strangers();
    if (strangers.length > 0) return strangers;
    const settled = Object.fromEntries(Object.entries(this.#props).filter(([, value]) => !isUnknown(value)));
    try {
      const { provider, stack } = this.sources();
      const only = (some: SettingSources["stack"]): SettingSources["stack"] =>
        Object.fromEntries(Object.entries(some ?? {}).filter(([key]) => key in settled));
      const sources = { provider: only(provider), stack: only(stack) };
      adoptsAll(sources);
      resolveSettings(sources);
      return [];
    } catch (error) {
      if (error instanceof NoKeyError) return [];
      if (!(error instanceof SettingsError)) throw error;
      // One from the environment is no property of the provider.
      const { setting = "", message } = error;
      return [{ property: setting in settled ? setting : "", reason: message }];
    }
  }
}

export function checkConfig(request: CheckRequest): CheckResponse {
  const { props, ...given } = received(request.getNews());
  const secrets = [...given.secrets, "apiKey"];
  const response = new CheckResponse();
  response.setInputs(sent(props, secrets));
  response.setFailuresList(failures(new Configuration(request.getUrn(), props).issues(), { props, secrets }));
  return response;
}

/** A provider of the dynamic resources has the same settings by the names that they have in stack configuration. */
const unprefixed = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).map(([key, value]) => [key.replace(/^consortium:/, ""), value]));

/** Never a replacement: the engine asks the same when resources come from the dynamic provider, whose objects they stay. */
export function diffConfig(request: DiffRequest): DiffResponse {
  const [olds, news] = [unprefixed(received(request.getOlds()).props), unprefixed(received(request.getNews()).props)];
  const response = new DiffResponse();
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter((key) => !isAdded(key));
  const changed = keys.filter((key) => !sameValue(olds[key], news[key]));
  const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
  response.setChanges(changed.length > 0 ? DIFF_SOME : DIFF_NONE);
  response.setDiffsList(changed);
  return response;
}

/** The engine prints the value of the property that a failure names, secret or not: of a secret one it is not told the name. */
export const failures = (issues: readonly Issue[], { props, secrets }: Received): CheckFailure[] =>
  issues.map(({ property, reason }) => {
    const [key = ""] = property.split(".");
    const failure = new CheckFailure();
    failure.setProperty(secrets.includes(key) ? "" : property);
    failure.setReason(secrets.includes(key) ? without(props[key], reason) : reason);
    return failure;
  });

const without = (value: unknown, reason: string): string =>
  (typeof value === "string" && value !== "") || typeof value === "number"
    ? reason.replaceAll(String(value), "[secret]")
    : reason;
