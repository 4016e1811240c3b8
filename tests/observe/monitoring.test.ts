import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { parse } from "yaml";
import { serveMetrics } from "../../cli/check/listen";
import { type Result } from "../../observe/check/checks";

/* The alerts and the dashboard of examples/monitoring, as Prometheus reads them, beside what `check --listen` serves. */

const root = join(__dirname, "../..");
const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface Dashboard {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
  templating: { list: { name: string; query: string | { query: string } }[] };
}

const { groups } = parse(textOf("examples/monitoring/alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels, templating } = JSON.parse(textOf("examples/monitoring/dashboard.json")) as Dashboard;
const targets = panels.flatMap(({ title, targets: own }) => own.map(({ expr }) => [title, expr] as const));
const expressions = [...rules.map(({ alert, expr }) => [alert, expr] as const), ...targets];
const variables = templating.list.flatMap(({ query }) => (typeof query === "string" ? [] : query.query));

/** The words of each kind in an expression: `⚠` are those that PromQL does not have there. */
function wordsIn(expr: string): Record<string, string[]> {
  const words: Record<string, string[]> = { "⚠": [], Identifier: [], LabelName: [] };
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => void (words[type.name] ??= []).push(expr.slice(from, to)),
  });
  return words;
}

/** The metrics, as Prometheus gets them. */
async function served(): Promise<string> {
  const subject = { kind: "node", id: "n", name: "n", within: "e" } as const;
  const result: Result = { check: "limits", subject, outcome: "ok", text: "", value: 1 };
  const { url, look, close } = await serveMetrics({ host: "127.0.0.1", port: 0 });
  try {
    await look(() => Promise.resolve([result]));
    return await (await fetch(url)).text();
  } finally {
    await close();
  }
}

test.each(expressions)("PromQL: %s", (_, expr) => {
  expect(wordsIn(expr)["⚠"]).toEqual([]);
});

test("invalid PromQL is noticed", () => {
  expect(wordsIn("sum(consortium_check_up")["⚠"]).not.toEqual([]);
});

test("uses exactly the metrics that are served; labels and checks exist", async () => {
  const text = await served();
  const words = expressions.map(([, expr]) => wordsIn(expr));
  const inVariables = variables.map((one) => /^label_values\((\w+), (\w+)\)$/.exec(one)!.slice(1));
  const metrics = new Set([...words.flatMap(({ Identifier }) => Identifier!), ...inVariables.map(([one]) => one!)]);
  expect([...metrics].sort()).toEqual([...new Set(text.match(/^consortium_\w+/gm))].sort());
  const templates = JSON.stringify(rules.map(({ annotations }) => annotations));
  const labels = new Set([
    ...words.flatMap(({ LabelName }) => LabelName!),
    ...inVariables.map(([, label]) => label!),
    ...[...templates.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
  ]);
  expect(labels.size).toBeGreaterThan(4);
  for (const label of labels) expect(text).toMatch(new RegExp(`[{,]${label}="`));
  const page = textOf("docs/reference/check.md");
  const checks = expressions.flatMap(([, expr]) => [...expr.matchAll(/check="([^"]+)"/g)].map(([, check]) => check!));
  expect(checks.filter((check) => !page.includes(`\`${check}\``))).toEqual([]);
});

test("rules are valid for Prometheus, and the dashboard uses only its own panels and variables", () => {
  const known = ["alert", "expr", "for", "labels", "annotations"];
  for (const rule of rules) {
    expect(Object.keys(rule).filter((key) => !known.includes(key))).toEqual([]);
    expect(rule.for ?? "1m").toMatch(/^\d+[smhd]$/);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const names = new Set(templating.list.map(({ name }) => name));
  const used = [...textOf("examples/monitoring/dashboard.json").matchAll(/\$\{?(\w+)/g)].map(([, name]) => name);
  expect(used.length).toBeGreaterThan(0);
  for (const name of used) expect(names).toContain(name);
});
