import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { define } from "../../service/command/serve";
import { ConsortiumClient, settingNames } from "../../provider/api";
import { environmentName } from "../../provider/api/environment";
import { type Definition } from "../../provider/core/definition";
import { definitions } from "../../provider/resources";
import { resolveOptions } from "../../service/settings/options";
import * as sdk from "../../sdk";
import { anchorsOf, examples, pages, root } from "./markdown";
import { aboutFiles } from "../../tools/generate/about.mjs";
import { installing, projects } from "../../tools/generate/installing.mjs";

const textOf = (file: string) => pages.find((page) => page.file === file)?.text ?? "";
const unique = (found: Iterable<RegExpMatchArray>) => [...new Set([...found].map(([, name = ""]) => name))];
const everything = pages.map(({ text }) => text).join("\n");

test.each(pages)("links of $file lead somewhere", ({ file, prose }) => {
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const dead = links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : normalize(join(dirname(file), path));
      if (!existsSync(join(root, target))) return true;
      const page = pages.find((one) => one.file === target);
      return anchor !== undefined && !(page && anchorsOf(page).includes(anchor));
    });
  expect(dead).toEqual([]);
});

test.each(examples("sh"))("commands of $where are valid for a shell", ({ text }) => {
  execFileSync("sh", ["-n"], { input: text, stdio: "pipe" });
});

/** As `wc -w` counts them. */
const words = (...files: string[]) => files.map(textOf).join("\n").match(/\S+/g)!.length;
const forUsers = pages.map(({ file }) => file).filter((file) => /^docs\/\w+(-\w+)*\.md$/.test(file));

test.each([
  ["the README", 800, ["README.md"]],
  ["all pages for users", 16_000, forUsers.filter((file) => file !== "docs/architecture.md")],
  ["the reference", 22_000, pages.map(({ file }) => file).filter((file) => file.startsWith("docs/reference/"))],
  ["CONTRIBUTING", 2_500, ["CONTRIBUTING.md"]],
  [
    "pages for maintainers",
    9_000,
    pages.map(({ file }) => file).filter((file) => /^docs\/(architecture|maintainers\/.*)\.md$/.test(file)),
  ],
])("%s: at most %d words, because reference belongs in docs/reference", (_, most, files) => {
  expect(files).not.toEqual([]);
  expect(words(...files)).toBeLessThanOrEqual(most);
});

test("no user page has more than 1,000 words: split it", () => {
  expect(forUsers.length).toBeGreaterThan(25);
  const others: Record<string, number> = { "docs/architecture.md": Infinity };
  const long = forUsers.filter((file) => words(file) > (others[file] ?? 1_000));
  expect(long.map((file) => `${file}: ${words(file)}`)).toEqual([]);
});

test("no page or schema refers to sections of an unpublished document", () => {
  const schemas = readFileSync(join(root, "schemas/network.schema.json"), "utf8");
  expect([...(everything + schemas).matchAll(/.*(?:\(spec\b|\bsections? \d).*/g)].map(([line]) => line)).toEqual([]);
});

test("files and templates that name a version of this package name this one", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const inPages = unique(
    everything.matchAll(/(?:pulumi-consortium[-@]|resource(?:-| )consortium(?:-| )v|at version v)([\d.]+\d)/g),
  );
  expect(inPages).toEqual([version]);
  const manifests = ["javascript", "network-file", "typescript"].map((name) => `templates/${name}/package.json`);
  for (const file of manifests) {
    const { dependencies } = JSON.parse(readFileSync(join(root, file), "utf8")) as { dependencies: object };
    expect([file, dependencies]).toEqual([file, expect.objectContaining({ "pulumi-consortium": `^${version}` })]);
  }
  type Package = Record<"version" | "name", string> & { dependencies: Record<string, string> };
  for (const folder of ["service", "console", "fleet"]) {
    const own = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Package;
    const depended = own.dependencies["pulumi-consortium"] ?? version; // exactly, because internal/ may change with every version
    expect([own.name, own.version, depended]).toEqual([`consortium-${folder}`, version, version]);
  }
});

test("files of CONTRIBUTING.md's table of questions exist, and so do their tests", () => {
  const [, table = ""] = /^\| question .*\n\|.*\n((?:\|.*\n)+)/m.exec(textOf("CONTRIBUTING.md")) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .map((line) => line.split("|").slice(2, 4));
  const missing = (cell = "", within: string, ending: string) => {
    let folder = "";
    const paths = [...cell.matchAll(/`([^`<]+)`/g)].map(([, path = ""]) => {
      folder = path.includes("/") ? dirname(path) : folder;
      return join(folder, basename(path)) + ending;
    });
    return paths.filter((path) => path.includes(".") && !existsSync(join(root, within, path)));
  };
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.flatMap(([file, test]) => [...missing(file, "", ""), ...missing(test, "tests", ".test.ts")])).toEqual([]);
});

test("pages locate packages as package.json does, or say that they are not published yet", () => {
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const texts = (repository?: string) => installing({ ...about, repository }, textOf);
  const inOwnWords = pages.filter(({ file }) => /^docs\/|^(\w+\/)?README\.md$/.test(file));
  expect(Object.keys(texts()).length).toBeGreaterThan(3);
  for (const [file, text] of Object.entries(texts()).filter(([, one]) => one.includes("<!-- install: ")))
    expect([file, text]).toEqual([file, expect.stringContaining("Not published yet: pack it from the clone")]);
  const published = texts("https://forge.example/consortium");
  for (const { file, text } of inOwnWords)
    expect([file, (published[file] ?? text).match(/not published yet|not on npm|npm pack /gi)]).toEqual([file, null]);
  expect(published["README.md"]).toContain(`npm install --save-exact pulumi-consortium@${about.version} `);
  expect(published["fleet/README.md"]).toContain(
    `npm install --save-dev consortium-fleet@${about.version} @pulumi/pulumi`,
  );
  expect(published["docs/languages.md"]).toContain(
    `pulumi new https://forge.example/consortium/tree/v${about.version}/templates/yaml --dir`,
  );
  expect(published["docs/languages.md"]).toContain(`pip install pulumi-consortium==${about.version} `);
  expect(published["examples/gitops/README.md"]).not.toMatch(/not published yet|npm pack|cp -r gitops /i);
});

test("a repository is in every package; without one, the projects of templates are as they are (with one: e2e/install/languages)", () => {
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const about = { ...own, repository: "https://forge.example:8443/acme/networks" };
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const { version } = about;
  const files = aboutFiles(about, read);
  for (const folder of ["console", "fleet", "service"])
    expect(JSON.parse(files[`${folder}/package.json`]!)).toMatchObject({
      version,
      repository: { url: `git+${about.repository}.git`, directory: folder },
    });
  expect(Object.entries(projects(own, read)).filter(([file, text]) => text !== read(file))).toEqual([]);
});

test("pipelines use the action and the template of the release once there is one, and a copy until then", () => {
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const lines = (repository?: string) =>
    Object.values(installing({ ...about, repository }, read)).flatMap(
      (text) => text.match(/(?<=^ *- )(uses: \S*\bgitops\b|local: |remote: ).*$/gm) ?? [],
    );
  const count = (all: string[]) =>
    Object.fromEntries([...new Set(all)].map((one) => [one, all.filter((it) => it === one).length]));
  expect(count(lines())).toEqual({ "uses: ./gitops": 5, "local: gitops/gitlab.yml": 2 });
  expect(count(lines("https://forge.example/acme/networks"))).toEqual({
    [`uses: acme/networks/gitops@v${about.version}`]: 5,
    [`remote: https://forge.example/acme/networks/raw/v${about.version}/gitops/gitlab.yml`]: 2,
  });
});

test("npx runs only the installed package, and never downloads another one of that name", () => {
  const now = pages.filter(({ file }) => file !== "CHANGELOG.md").map(({ text }) => text);
  expect(now.join("\n").match(/npx (?!--no-install )[^`\n]*consortium.*/g) ?? []).toEqual([]);
});

test("every npm script that pages mention exists", () => {
  const scriptsOf = (file: string) =>
    (JSON.parse(readFileSync(join(root, file), "utf8")) as { scripts: object }).scripts;
  const scripts = { ...scriptsOf("package.json"), ...scriptsOf("templates/typescript/package.json") };
  const named = unique(everything.matchAll(/\bnpm (?:run )?(start|test|(?<=npm run )[\w:-]+)/g));
  expect(named).toEqual(expect.arrayContaining(["start", "test", "destroy", "generate"]));
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test("every flag of consortium serve is in its help", () => {
  const command = new Command();
  define(command);
  const real = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long }) => long ?? "")
    .sort();
  const listed = unique(textOf("docs/reference/embedded-service.md").matchAll(/^\| `(--[\w-]+)/gm)).sort();
  expect(listed).toEqual(real);
  const used = everything.match(/consortium serve( [^`\n]*)?/g)?.flatMap((line) => line.match(/--[\w-]+/g) ?? []) ?? [];
  expect(used.filter((flag) => !real.includes(flag))).toEqual([]);
});

test("pages name every environment variable, and only existing ones", () => {
  const settings = [...settingNames, "adopt", "plugin"].map(environmentName);
  const named = unique(everything.matchAll(/(?<!PULUMI_)\b(CONSORTIUM_[A-Z_]+)/g));
  const others = [
    "ANVIL",
    "CONFIRM_DELETED",
    "CONFIRM_LISTS",
    "DEPLOYED",
    "NOT_DEPLOYED",
    "OFFLINE_PREVIEW",
    "SERVE_API_KEY",
  ];
  expect(named.sort()).toEqual([...settings, ...others.map((name) => `CONSORTIUM_${name}`)].sort());
});

test("docs/reference/embedded-service.md names every setting of the service", () => {
  const text = textOf("docs/reference/embedded-service.md");
  const { limits, timing, answers } = resolveOptions({});
  const names = [limits, timing, answers].flatMap((group) => Object.keys(group));
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});

test("arguments in Terraform that have the same name here are properties of their resources", () => {
  const page = textOf("docs/reference/terraform.md");
  const rows = [...page.matchAll(/^\| (\w+), `kaleido_\w+` +\| (.*?) +\| the same in camel case +\|$/gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, type = "", names = ""] of rows) {
    const { inputs, outputs } = Object.values(definitions).find((one) => one.type === type)!;
    const known = Object.keys({ ...inputs.shape, ...outputs.shape });
    const named = names
      .match(/\w+/g)!
      .map((name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
    expect([type, named.filter((name) => !known.includes(name))]).toEqual([type, []]);
  }
});

test("architecture.md says who uses each member of the kernel's definition: three kinds at least", () => {
  const page = textOf("docs/architecture.md");
  const [, table = ""] = /^\| member .*\n\|.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const all: Definition[] = Object.values(definitions);
  const said = [...table.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)].flatMap(([, members = "", users = ""]) => {
    const named = all.filter(({ title }) =>
      users
        .replace("zones", "zone")
        .split(/, | and |^all but /)
        .includes(title),
    );
    const kinds = users.startsWith("all") ? all.filter((one) => !named.includes(one)) : named;
    return members.match(/\w+/g)!.map((member) => [member, kinds.map(({ type }) => type)] as const);
  });
  const [, declared = ""] =
    /^export interface Definition \{\n([^]*?)^\}/m.exec(
      readFileSync(join(root, "provider/core/definition.ts"), "utf8"),
    ) ?? [];
  const members = [...declared.matchAll(/^ {2}(\w+)\??[:(]/gm)].map(([, member = ""]) => member as keyof Definition);
  const used = members.map((member) => [
    member,
    all.filter((one) => one[member] !== undefined).map(({ type }) => type),
  ]);
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(used));
  expect(said.filter(([, kinds]) => kinds.length < 3)).toEqual([]);
});

test("architecture.md has at most twelve concepts of the core, by names that the core has", () => {
  const [, glossary = ""] = /^## The concepts of the core\n([^]*?)^## /m.exec(textOf("docs/architecture.md")) ?? [];
  const concepts = glossary.match(/^- .+(?:\n {2}.+)*/gm)!;
  expect(concepts.length).toBeGreaterThan(10);
  expect(concepts.length).toBeLessThanOrEqual(12);
  const core = readdirSync(join(root, "provider/core"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(root, "provider/core", file), "utf8"))
    .join("\n");
  const names = concepts.flatMap((concept) => concept.match(/(?<=`)\w+(?=`)/g) ?? []);
  expect(names).toEqual(expect.arrayContaining(["Definition", "Look"]));
  expect(
    names.filter(
      (name) => !new RegExp(`(interface|class|type|function|^ +(readonly )?)\\b ?${name}\\b`, "m").test(core),
    ),
  ).toEqual([]);
});

test("docs/reference/client.md lists every method of the client", () => {
  const methods = Object.getOwnPropertyNames(ConsortiumClient.prototype);
  const own = methods.filter((name) => !["constructor", "tetherAction", "read"].includes(name));
  expect(own).toEqual(expect.arrayContaining(["listNodes", "close"]));
  const text = textOf("docs/reference/client.md");
  expect(own.filter((name) => !text.includes(`\`${name}(`))).toEqual([]);
});

test("the README and the pages on lookups and settings name everything that programs import", () => {
  const names = Object.keys(sdk).filter((name) => !name.endsWith("Output"));
  expect(names).toEqual(expect.arrayContaining(["Node", "getNodes"]));
  const told = ["README.md", "docs/lookups.md", "docs/settings.md"].map(textOf).join();
  expect(names.filter((name) => !told.includes(`\`${name}`))).toEqual([]);
});
