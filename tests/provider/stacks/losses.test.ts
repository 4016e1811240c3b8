import { ComponentResource, type CustomResourceOptions } from "@pulumi/pulumi";
import { Consortium, Environment } from "../../../sdk";
import { onBothAdapters } from "../../support/stacks";

/* A program that loses an environment: the preview warns about the loss, and so does the deletion. */

const quorum = { provider: "quorum", consensusType: "raft" } as const;
const deleting = "DELETING AN ENVIRONMENT DESTROYS ITS LEDGER";

type Declared = Record<string, CustomResourceOptions | undefined>;

/** A program with these environments. */
const program = (environments: Declared) => (): void => {
  const consortium = new Consortium("c");
  for (const [name, opts] of Object.entries(environments)) new Environment(name, { consortium, ...quorum }, opts);
};

class Group extends ComponentResource {
  constructor(name: string, aliases: string[] = []) {
    super("test:index:Group", name, {}, { aliases: aliases.map((alias) => ({ name: alias })) });
  }
}

const inGroup = (name: string, aliases?: string[]) => (): void => {
  const consortium = new Consortium("c");
  new Environment(`${name}-e`, { consortium, ...quorum, name: "e" }, { parent: new Group(name, aliases) });
};

async function later(): Promise<void> {
  const consortium = new Consortium("c");
  await Promise.resolve();
  new Environment("soon", { consortium, ...quorum });
  await new Promise((resolve) => setTimeout(resolve, 50));
  new Environment("late", { consortium, ...quorum });
}

onBothAdapters((make) => {
  const warnings = (lines: readonly string[]): string[] => lines.filter((line) => /DELETING|aliases/.test(line));

  async function lost(before: () => unknown, after: () => unknown): Promise<string[]> {
    const { stack } = await make(before);
    const { lines, errors } = await stack.preview(after);
    expect(errors).toEqual([]);
    return warnings(lines);
  }

  test.each<[string, Declared, Declared, RegExp[]]>([
    ["all are present", { a: {}, b: {} }, { a: {}, b: {} }, []],
    ["the only one is gone", { a: {} }, {}, [/environment "a": DELETING .* \(it is no longer in the program\)/]],
    ["another name", { a: {} }, { b: {} }, [/environment "a": DELETING/, /\("b"\).*aliases: \[\{ name: "a" \}\]/]],
    ["another name with an alias", { a: {} }, { b: { aliases: [{ name: "a" }] } }, []],
    [
      "an alias that keeps the name",
      { a: {}, b: {} },
      { b: { aliases: [{ stack: "before" }] } },
      [/environment "a": DELETING/],
    ],
    ["a URN as an alias", { a: {} }, { b: { aliases: ["urn:pulumi:dev::test::x$y::a"] } }, []],
    ["an alias that is known later", { a: {} }, { b: { aliases: [Promise.resolve({ name: "a" })] } }, []],
    ["it stays in the service", { a: { retainOnDelete: true } }, {}, []],
  ])("%s", async (_, before, after, expected) => {
    const told = await lost(program(before), program(after));
    expect(told).toEqual(expected.map((one) => expect.stringMatching(one) as string));
  });

  test.each<[string, () => void, string[]]>([
    ["the name that Pulumi derives from a component's alias is not a loss", inGroup("h", ["g"]), []],
    ["one in a component", program({}), [deleting]],
  ])("%s", async (_, after, expected) => {
    const told = await lost(inGroup("g"), after);
    expect(told).toEqual(expected.map((one) => expect.stringContaining(one) as string));
  });

  test.each<[string, () => unknown, string[]]>([
    ["resources that the program creates later are not reported", later, []],
    ["resources that it created after a resolved promise are", program({}), ['"soon"']],
  ])("%s", async (_, after, expected) => {
    const told = await lost(later, after);
    expect(told).toEqual(expected.map((one) => expect.stringContaining(one) as string));
  });

  test("a deletion warns before it is sent", async () => {
    const { stack } = await make(program({ a: {}, b: {} }));
    const id = String(stack.of("a").id);
    const { lines } = await stack.up(program({ b: {} }));
    expect(lines).toContainEqual(expect.stringContaining(`environment "a" (${id}): ${deleting}`) as string);
    const destroyed = await stack.destroy();
    expect(warnings(destroyed.lines)).toEqual([expect.stringContaining('environment "b"')]);
  });

  test.each<[string, CustomResourceOptions | undefined, number]>([
    ["with an environment that retainOnDelete keeps", { retainOnDelete: true }, 1],
    ["with nothing left in it", undefined, 0],
  ])("a consortium that is deleted %s: the losses are named first", async (_, opts, times) => {
    const { stack, service } = await make(program({ e: opts }));
    const [{ id }, ledger] = [service.store.consortia.list()[0]!, service.store.environments.list()[0]!];
    const { lines } = await stack.destroy();
    const said = lines.filter((line) => line.includes("DELETING A CONSORTIUM"));
    const text = `consortium "c" (${id}): DELETING A CONSORTIUM DESTROYS EVERYTHING IN IT, ledgers included: environment "e" (${ledger.id})`;
    expect(said).toEqual(Array(times).fill(expect.stringContaining(text)));
  });
});
