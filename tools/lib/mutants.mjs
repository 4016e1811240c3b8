// @ts-check
import ts from "typescript";

/**
 * A place of a source file, and what stands there in a mutant of it.
 * @typedef {{ line: number, from: number, to: number, was: string, put: string }} Mutant
 */

/** Operators, and what they become. */
const operators = new Map(
  Object.entries({ "&&": "||", "||": "&&", "===": "!==", "!==": "===", "<": ">=", ">": "<=", "<=": ">", ">=": "<" }),
);

/** What can stand in place of a node. undefined: it is left. @param {ts.Node} node @returns {[ts.Node, string] | undefined} */
function replacement(node) {
  if (ts.isBinaryExpression(node)) {
    const put = operators.get(node.operatorToken.getText());
    if (put !== undefined) return [node.operatorToken, put];
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [node, node.right.getText()];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [node, node.operand.getText()];
  if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isLiteralTypeNode(node.parent)) return [node, "false"];
  if (node.kind === ts.SyntaxKind.FalseKeyword && !ts.isLiteralTypeNode(node.parent)) return [node, "true"];
  if (ts.isConditionalExpression(node)) return [node.condition, `!(${node.condition.getText()})`];
  if (ts.isIfStatement(node)) return [node.expression, "false"];
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) return [node, ";"];
  return undefined;
}

/** All mutants of a TypeScript file, in their order. @param {string} text @returns {Mutant[]} */
export function mutantsOf(text) {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  /** @type {Mutant[]} */
  const found = [];
  const visit = (/** @type {ts.Node} */ node) => {
    const [place, put] = replacement(node) ?? [];
    if (place && put !== undefined) {
      const [from, to] = [place.getStart(), place.getEnd()];
      found.push({
        line: source.getLineAndCharacterOfPosition(from).line + 1,
        from,
        to,
        was: text.slice(from, to),
        put,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
