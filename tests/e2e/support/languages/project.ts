import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cliWithLanguages, generatedSdk, virtualEnvironment } from "./sdk";

/** What a program may be written in, besides JavaScript and TypeScript. */
export type Language = "yaml" | "python" | "go";

/** What a program in another language needs around it. */
export interface Project {
  /** The file of the program. */
  main: string;
  /** The text of Pulumi.yaml. */
  settings: string;
  /** With the language's packages, and without a way to a registry. */
  env: Record<string, string>;
  /** Files that lead to the language's packages, in place of those that an example has. */
  dependencies: Record<string, string>;
  /** Folders elsewhere. */
  links: Record<string, string>;
}

/** Whatever is missing is made first: the hosts, the packages, the SDK. */
export async function projectIn(language: Language, schema?: string): Promise<Project> {
  const plain = { settings: `name: e2e\nruntime: ${language}\n`, env: {}, dependencies: {}, links: {} };
  if (language === "yaml") return { ...plain, main: "Main.yaml" };
  return { ...plain, ...(await (language === "python" ? python(schema) : go(schema))) };
}

type Rest = Pick<Project, "main"> & Partial<Project>;

async function python(schema: string | undefined): Promise<Rest> {
  const cli = await cliWithLanguages();
  const venv = await virtualEnvironment();
  const sdk: Record<string, string> = schema === undefined ? {} : { PYTHONPATH: await generatedSdk("python", schema) };
  const path = [join(venv, "bin"), cli.env.PATH].join(delimiter);
  return { main: "__main__.py", env: { PATH: path, VIRTUAL_ENV: venv, PIP_NO_INDEX: "true", ...sdk }, links: { venv } };
}

/** The module has the versions that the language hosts are built from: Go has compiled most of it already. */
async function go(schema: string | undefined): Promise<Rest> {
  const hosts = join(__dirname, "../../../../tools/pulumi-cli/languages");
  const versions = readFileSync(join(hosts, "go.mod"), "utf8").replace(/^tool .*$/m, "");
  const module = [versions.replace(/^module .*$/m, "module e2e")];
  if (schema !== undefined) {
    const sdk = await generatedSdk("go", schema);
    const name = /^module (\S+)$/m.exec(readFileSync(join(sdk, "go.mod"), "utf8"))?.[1] ?? "";
    module.push(`require ${name} v0.0.0`, `replace ${name} => ${sdk}`, "");
  }
  return {
    main: "main.go",
    settings: "name: e2e\nruntime: { name: go, options: { buildTarget: program } }\n",
    env: { CGO_ENABLED: "0", GOFLAGS: "-trimpath -mod=readonly -buildvcs=false", GOPROXY: "off", GOWORK: "off" },
    dependencies: { "go.mod": module.join("\n"), "go.sum": readFileSync(join(hosts, "go.sum"), "utf8") },
  };
}
