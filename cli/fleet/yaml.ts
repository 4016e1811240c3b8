import { printableLines } from "../../provider/api/printable";
import { Document, parse, Scalar, type ScalarTag, visit } from "yaml";

const versions = ["1.1", "1.2"] as const;

/** Words and paths, which no reader takes for anything else; but for those such as `no` and `Null`. */
const wordLike = /^[A-Za-z/][A-Za-z0-9_./@-]*(:[A-Za-z0-9_./@-]+)*$/;

const isPlain = (text: string): boolean =>
  wordLike.test(text) && versions.every((version) => parse(text, { version }) === text);

/** Without a point, an older reader takes `1e-7` for text. */
const pointed: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^-?\d+\.0e/,
  identify: (value) => typeof value === "number" && /^-?\d+e/.test(String(value)),
  resolve: Number,
  stringify: ({ value }) => String(value).replace("e", ".0e"),
};

/**
 * YAML that says the same to every reader: Kubernetes and Pulumi read by version 1.1, to which `no`, `0123` and `12:30` are a
 * boolean and numbers, and others by 1.2. Each value is written in full, so that every part can be read by itself.
 */
export function yamlForAll(value: unknown): string {
  // `keepUndefined` is off: what is not given is not written.
  const document = new Document(value, { aliasDuplicateObjects: false, customTags: (tags) => [pointed, ...tags] });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && !isPlain(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // What is left of characters that an older reader takes for a line break stands in double quotes, where escapes are read.
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
