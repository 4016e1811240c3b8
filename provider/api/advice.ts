/** Where an API key was found. */
export interface KeyOrigin {
  /** In words, such as `environment variable CONSORTIUM_API_KEY`. */
  source: string;
  /** For decisions. undefined: it was given as a value. */
  place?: string;
}

/** Next steps for readers of errors. They depend on the tool in use: `Settings` choose them. */
export interface Advice {
  setKey: string;
  /** How to let a key cross a network in clear text. */
  allowHttp: string;
  /** How to replace a key that was refused. */
  replaceKey(key: KeyOrigin): string;
  /** How to use a key of the right organization. */
  useKeyOf(organization: string, key: KeyOrigin): string;
  /** Where to correct a value that the service refuses. */
  correct: string;
  /** How to try again, in words that can follow "then". */
  again: string;
}

/** In the words of those who use the client by itself. */
export const clientAdvice: Advice = {
  setKey: "Set the environment variable CONSORTIUM_API_KEY, or give apiKey.",
  allowHttp: "set CONSORTIUM_ALLOW_HTTP=true, or give allowHttp: true",
  replaceKey: () => "set a valid one there.",
  useKeyOf: (organization, { place }) =>
    place === "environment" ? `Set CONSORTIUM_API_KEY to a key of ${organization}.` : `Use a key of ${organization}.`,
  correct: "Correct in the request what the service reports",
  again: "try again",
};
