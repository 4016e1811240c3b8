import { Document, Scalar, type ScalarTag, type Tags, visit } from "yaml";
import { printableLines } from "../../provider/api/printable";

/* Data as YAML. */

/**
 * The text of a document.
 * @param needsQuotes whether a text must be in double quotes, where YAML reads escapes
 */
export function textOf(document: Document, needsQuotes: (text: string) => boolean): string {
  visit(document, {
    Scalar: (_, scalar) => {
      if (needsQuotes(String(scalar.value))) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}

/** For readers of YAML 1.1, `1e-7` is text without a decimal point. */
const pointed: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^-?\d+\.0e/,
  identify: (value) => typeof value === "number" && /^-?\d+e/.test(String(value)),
  resolve: Number,
  stringify: ({ value }) => String(value).replace("e", ".0e"),
};

/**
 * YAML that means the same in version 1.2 and in version 1.1, which Kubernetes and Pulumi read: there, `no` is a boolean, and `0123`
 * and `12:30` are numbers. It has no anchors, so every part can be read by itself.
 */
export function yamlForAll(value: unknown): string {
  const customTags = (tags: Tags): Tags => [pointed, ...tags];
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1", customTags });
  return textOf(document, (text) => /[^ -~]/.test(text)); // YAML 1.1 reads more characters as line breaks
}
