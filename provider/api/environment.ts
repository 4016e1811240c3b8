/* The one place where the process environment is read. Imports nothing, for the programs. */

/** `maxConcurrency` becomes `CONSORTIUM_MAX_CONCURRENCY`. */
export const environmentName = (name: string): string =>
  `CONSORTIUM_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** Where users find an API key that a fleet has put into the environment. */
export const keySourceVariable = environmentName("apiKeySource");

export const processEnvironment = (): Record<string, string | undefined> => process.env;
