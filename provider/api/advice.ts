/** Where an API key was found: in words, and for decisions (undefined: it was given as a value). */
export interface KeyOrigin {
  source: string;
  place?: string;
}

/** Next steps for readers of errors. They depend on the tool in use: `Settings` choose them. */
export interface Advice {
  setKey: string;
  allowHttp: string;
  replaceKey(key: KeyOrigin): string;
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
