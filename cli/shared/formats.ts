import { create } from "xmlbuilder";
import { printable, printableLines } from "../../provider/api/printable";

/** A test case of a JUnit report. It passed if it has no `result`. */
export interface TestCase {
  attributes: { classname: string; name: string; time?: string };
  result?: { element: "failure" | "error" | "skipped"; message: string; type?: string; text?: string };
  output?: string;
}

/** One test suite as JUnit XML. */
export function junitXml(name: string, cases: readonly TestCase[], time?: string): string {
  const count = (element: string): number => cases.filter(({ result }) => result?.element === element).length;
  const counts = { tests: cases.length, failures: count("failure"), errors: count("error"), skipped: count("skipped") };
  const root = create("testsuites", { encoding: "UTF-8", invalidCharReplacement: "?" });
  const parent = root.element("testsuite", { name: printable(name), ...counts, ...(time && { time }) });
  for (const { attributes, result, output } of cases) {
    const test = parent.element("testcase", mapped(attributes, printable));
    if (result) {
      const { element, text, ...reason } = result;
      test.element(element, mapped(reason, printable), text && printableLines(text));
    }
    if (output !== undefined) test.element("system-out", {}, printableLines(output));
  }
  return `${root.end({ pretty: true })}\n`;
}

const mapped = (attributes: object, change: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, change(String(value))]));

/** Cut longer values: other people choose them. */
const longest = 120;

/** The labels of a sample in Prometheus' text format. */
export const metricLabels = (labels: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(labels)
    .flatMap(([label, value]) => (value === undefined ? [] : [`${label}="${quoted(value)}"`]))
    .join(",");

const quoted = (text: string): string =>
  printable(text.slice(0, longest)).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
