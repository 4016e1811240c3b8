import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/* The client is for everybody: advice for Pulumi users is in provider/core/advice.ts. */

const folder = join(__dirname, "../../../provider/api");
const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));

/** Words of Pulumi, of its providers and of fleets. The name of the package may be said. */
const foreign =
  /pulumi(?!-consortium\b)|\bstacks?\b|fleet|\bProvider\b|consortium:|customTimeouts|--run-program|\badopt/;

/** The texts in a source: string literals, and the parts of templates; not comments, imports or names. */
function texts(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const parsed = (text: string): ts.SourceFile => ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest);

test.each(files)("%s says nothing of Pulumi", (name) => {
  const all = texts(parsed(readFileSync(join(folder, name), "utf8")));
  expect(all.filter((text) => foreign.test(text))).toEqual([]);
});

test.each([
  ['const a = "run `pulumi up`";', 1],
  ["const a = `the ${b} of the fleet ${c} of the stack`;", 2],
  ['throw new E("argument of the Provider");', 1],
  ["const a = `consortium:${name}`;", 1],
  ['/* pulumi */ import { a } from "@pulumi/pulumi"; const { stack } = b;', 0],
  ["const a = `pulumi-consortium/${version}`;", 0],
])("the test itself finds what it should in %s", (text, count) => {
  expect(texts(parsed(text)).filter((one) => foreign.test(one))).toHaveLength(count);
});
