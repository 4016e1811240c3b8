import {
  CheckFailure,
  type CheckRequest,
  CheckResponse,
  type ConfigureRequest,
  type DiffRequest,
  DiffResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import { processEnvironment } from "../provider/api/environment";
import { Secrets } from "../provider/api/secrets";
import { SettingsError } from "../provider/api/settings";
import { hasCode, reasonShown } from "../provider/errors";
import { partsOfUrn } from "../provider/constants";
import { type Issue, type Props } from "../provider/core/definition";
import {
  adoptsAll,
  isDefaultProvider,
  ownKey,
  providerSettingNames,
  type ProviderSettings,
  readOwn,
  resolveProviderSettings,
  settingsIn,
} from "../provider/pulumi/settings";
import { didYouMean, unknownSetting } from "../provider/core/suggest";
import { isUnknown, sameValue } from "../provider/core/values";
import { fromEngine, type Received, toEngine } from "./properties";

const known: readonly string[] = providerSettingNames;
const knownInStack: readonly string[] = [...known, "plugin"];
/** Keys that the engine and the SDKs add. */
const isAdded = (key: string): boolean => key === "version" || key === "pluginDownloadURL" || key.startsWith("__");

const withoutAdded = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([key]) => !isAdded(key)));

/** Settings by their own names. Stack configuration, and a provider of dynamic resources, prefix them. */
const unprefixed = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).map(([key, value]) => [key.replace(/^consortium:/, ""), value]));

/** The stack's configuration in this provider's namespace, which the engine starts plugins with. undefined: it was not. */
function stackConfiguration(): Props | undefined {
  const text = processEnvironment().PULUMI_CONFIG;
  try {
    return unprefixed(JSON.parse(text ?? "") as Props);
  } catch {
    return undefined;
  }
}

/** The settings of one provider, from stack configuration or from the arguments of an explicit provider. */
export class Configuration {
  readonly #props: Props;
  readonly settings: ProviderSettings;

  constructor(
    private readonly urn: string,
    props: Props,
  ) {
    this.#props = withoutAdded(props);
    this.settings = settingsIn(this.#props, partsOfUrn(urn).name);
  }

  static of(request: ConfigureRequest): Configuration {
    const variables = request.getVariablesMap().toArray();
    const { props } = fromEngine(request.getArgs());
    const named: Props = Object.fromEntries(variables.map(([key, value]) => [key.replace(/^.*:/, ""), value]));
    return new Configuration(request.getUrn() ?? "", { ...named, ...props });
  }

  /** The provider's name, "" for the default one. undefined: the engine does not tell. */
  get name(): string | undefined {
    if (this.urn === "") return undefined;
    return isDefaultProvider(partsOfUrn(this.urn).name, this.#props) ? "" : partsOfUrn(this.urn).name;
  }

  /** Unknown settings of the provider and of the stack. */
  #unknownSettings(): Issue[] {
    const { [ownKey]: own, ...settings } = this.#props;
    const isStacks = readOwn(own) === false;
    const given = isStacks ? {} : settings;
    const stack = stackConfiguration() ?? (isStacks ? settings : {});
    const unknown = Object.keys(given).filter((key) => !known.includes(key));
    // A project named consortium has its own keys in this namespace.
    const misspelt = Object.keys(partsOfUrn(this.urn).project === "consortium" ? {} : stack).filter(
      (key) => !knownInStack.includes(key),
    );
    const reasons = [
      ...unknown.map((key) => `the provider has no setting "${key}"${didYouMean(key, known)}`),
      ...misspelt.map((key) => unknownSetting(key, knownInStack)),
    ];
    return reasons.map((reason) => ({ property: "", reason, code: "unknown-setting" })); // the engine would print a misspelled key's value
  }

  /** Unusable settings. A value that is not known yet is not one. */
  issues(): Issue[] {
    const unknown = this.#unknownSettings();
    if (unknown.length > 0) return unknown;
    const settled = Object.entries(this.settings).filter(([, { value }]) => !isUnknown(value));
    const settings: ProviderSettings = Object.fromEntries(settled);
    try {
      adoptsAll(settings);
      resolveProviderSettings(settings);
      return [];
    } catch (error) {
      if (hasCode(error, "no-key")) return [];
      if (!(error instanceof SettingsError)) throw error;
      // A setting from the environment is not a property of the provider.
      const { setting = "", message } = error;
      return [{ property: setting in settings ? setting : "", reason: message, code: error.code }];
    }
  }
}

/** Finds out which settings are the provider's own, and keeps that in the state. */
export function checkConfig(request: CheckRequest): CheckResponse {
  const { props: news, ...given } = fromEngine(request.getNews());
  const secrets = [...given.secrets, "apiKey"];
  const isDefault = isDefaultProvider(partsOfUrn(request.getUrn()).name, withoutAdded(news), stackConfiguration());
  const props: Props = { [ownKey]: !isDefault, ...news };
  const response = new CheckResponse();
  response.setInputs(toEngine(props, secrets));
  response.setFailuresList(failures(new Configuration(request.getUrn(), props).issues(), { props, secrets }));
  return response;
}

/** Never a replacement: the engine also asks when resources move here from the dynamic provider and keep their objects. */
export function diffConfig(request: DiffRequest): DiffResponse {
  const olds = unprefixed(fromEngine(request.getOlds()).props);
  const news = unprefixed(fromEngine(request.getNews()).props);
  const response = new DiffResponse();
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(
    (key) => !isAdded(key) && key !== ownKey,
  );
  const changed = keys.filter((key) => !sameValue(olds[key], news[key]));
  const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
  response.setChanges(changed.length > 0 ? DIFF_SOME : DIFF_NONE);
  response.setDiffsList(changed);
  return response;
}

/** The engine prints the value of a property that a failure names, so failures do not name secret ones. */
export function failures(issues: readonly Issue[], { props, secrets }: Omit<Received, "paths">): CheckFailure[] {
  const hidden = new Secrets(secrets.map((key) => props[key]));
  return issues.map(({ property, reason, code }) => {
    const isSecret = secrets.includes(property.split(".")[0]!);
    return failure({ property: isSecret ? "" : property, reason: hidden.mask(reason), code });
  });
}

export function failure(issue: Issue): CheckFailure {
  const found = new CheckFailure();
  found.setProperty(issue.property);
  found.setReason(reasonShown(issue));
  return found;
}
