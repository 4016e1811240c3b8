import { version } from "../../provider/version";
import { lookups } from "../../provider/lookups";
import { definitions } from "../../provider/resources";
import { functionSpec } from "./functions";
import { goImport } from "./go";
import { networkSpec } from "./network";
import { resourceSpec } from "./resources";
import { configSpec, providerSpec } from "./settings";
import { type PackageSpec } from "./model";
import { token, Types } from "./types";

/** What SDKs of each language are called. */
const language = {
  nodejs: { packageName: "pulumi-consortium", respectSchemaVersion: true },
  python: {
    packageName: "pulumi_consortium",
    requires: { pulumi: ">=3.0.0,<4.0.0" },
    pyproject: { enabled: true },
    respectSchemaVersion: true,
  },
  go: {
    importBasePath: goImport,
    generateResourceContainerTypes: true,
    respectSchemaVersion: true,
  },
  csharp: {
    namespaces: { consortium: "Consortium" },
    packageReferences: { Pulumi: "3.*" },
    respectSchemaVersion: true,
  },
  java: {
    basePackage: "com.pulumi",
    buildFiles: "gradle",
    dependencies: {
      "com.pulumi:pulumi": "1.16.0",
      "com.google.code.gson:gson": "2.8.9",
      "com.google.code.findbugs:jsr305": "3.0.2",
    },
  },
};

/** What results are called beside resources of the same name; languages add `Result` themselves. */
const resultName = (id: string): string => {
  const name = id.replace(/Result$/, "");
  return Object.values(definitions).some(({ type }) => type === name) ? `Listed${name}` : name;
};

const specs = <T, S>(all: Record<string, T>, name: (one: T) => string, spec: (one: T) => S): Record<string, S> =>
  Object.fromEntries(Object.values(all).map((one) => [token(name(one)), spec(one)]));

interface About {
  description: string;
  keywords: string[];
  license: string;
  repository?: string | { url: string };
}

/** The schema of the provider plugin, from which SDKs and docs of all languages are made. */
export function packageSchema({ description, keywords, license, repository }: About): PackageSpec {
  const url = (typeof repository === "string" ? repository : repository?.url)?.replace(/^git\+|\.git$/g, "");
  const types = new Types(resultName);
  const resources = {
    ...specs(
      definitions,
      ({ type }) => type,
      (definition) => resourceSpec(definition, types),
    ),
    [token("Network")]: networkSpec(types),
  };
  const functions = specs(
    lookups,
    ({ name }) => name,
    (lookup) => functionSpec(lookup, types),
  );
  return {
    name: "consortium",
    displayName: "Consortium",
    version,
    description,
    keywords: [...keywords, "category/infrastructure", "kind/native"],
    license,
    ...(url && { homepage: url, repository: url, pluginDownloadURL: `${url}/releases/download/v\${VERSION}` }),
    publisher: "pulumi-consortium",
    meta: { supportPack: true },
    language,
    config: configSpec,
    types: types.specs,
    provider: providerSpec(),
    resources,
    functions,
  };
}
