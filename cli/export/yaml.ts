import { Document, isNode, isPair, type Pair, Scalar, visit } from "yaml";
import { printableLines } from "../../provider/api/printable";
import { type Exported } from "./definition";

const editors = " yaml-language-server: $schema=./node_modules/pulumi-consortium/schemas/network.schema.json";
const adopting = " `pulumi up` adopts what adopt: names, and changes nothing of it. A look before: `pulumi preview`.";

/** The text of a network file, with what people have to know beside what it concerns. */
export function yamlOf({ definition, remarks }: Exported, { adopt }: { adopt: boolean }): string {
  const document = new Document(definition);
  for (const { path, text } of remarks) {
    const owner = document.getIn(path.slice(0, -1), true);
    const items: unknown[] =
      typeof owner === "object" && owner !== null && "items" in owner ? (owner.items as unknown[]) : [];
    const pair = items.find(
      (item): item is Pair => isPair(item) && isNode(item.key) && item.key.toString() === String(path.at(-1)),
    );
    if (pair && isNode(pair.key))
      pair.key.commentBefore = [pair.key.commentBefore, ` ${text}`].filter(Boolean).join("\n");
  }
  const general = remarks.filter(({ path }) => path.length === 0).map(({ text }) => ` ${text}`);
  document.commentBefore = [editors, ...(adopt ? [adopting] : []), ...general].join("\n");
  visit(document, {
    Scalar: (_, scalar) => {
      const { value } = scalar;
      if (typeof value === "string" && printableLines(value) !== value) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // What the library leaves as it is stands in double quotes now, where YAML reads the escapes.
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000 }));
}
