import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv, { type ValidateFunction } from "ajv";
import { parse } from "yaml";
import { documentsIn } from "./operator";

type Schema = Record<string, unknown>;
interface Crd {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** Validators by `group/version/kind`. */
export type Crds = Map<string, ValidateFunction>;

/**
 * A test on the operator's own CRDs, from the folder that OPERATOR_CRDS names (`operator/config/crd/bases` of its sources), which no
 * package contains: see CONTRIBUTING.md. Without the variable, no test is defined.
 */
export function testWithCrds(title: string, run: (crds: Crds) => void): void {
  const folder = process.env.OPERATOR_CRDS;
  if (folder === undefined) return;
  const crds = crdsIn(readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8")));
  test(title, () => run(crds));
}

/** Validators of CRDs that are given as YAML. Like kubectl's strict validation, they refuse unknown fields. */
export function crdsIn(texts: string[]): Crds {
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  const crds = texts.map((text) => parse(text) as Crd);
  return new Map(
    crds.flatMap(({ spec }) =>
      spec.versions.map(
        ({ name, schema }) =>
          [`${spec.group}/${name}/${spec.names.kind}`, ajv.compile(closed(schema.openAPIV3Schema) as Schema)] as const,
      ),
    ),
  );
}

/** The problems that the CRDs find in a file of manifests. Other kinds pass. */
export function refusedBy(crds: Crds, text: string): string[] {
  return documentsIn(text).flatMap((document) => {
    const kind = String(document.kind);
    const validate = crds.get(`${String(document.apiVersion)}/${kind}`);
    if (validate === undefined || validate(document)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const extra = "additionalProperty" in params ? ` (${String(params.additionalProperty)})` : "";
      return `${kind}${instancePath}: ${message}${extra}`;
    });
  });
}

/** Refuses properties that a schema does not name, unless it preserves unknown fields. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner: Schema = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const open = inner["x-kubernetes-preserve-unknown-fields"] === true || "additionalProperties" in inner;
  return inner.type === "object" && typeof inner.properties === "object" && !open
    ? { ...inner, additionalProperties: false }
    : inner;
}
