// @ts-check
/**
 * The instructions for installing: until package.json has a `repository`, nothing is published, and users pack packages from the clone.
 * Once it has, packages are on npm and plugins at its releases.
 */

import { addressOf, goModuleOf } from "./about.mjs";
import { replaced } from "./markdown.mjs";

/** @typedef {import("./about.mjs").About} About */

/** Where `pulumi plugin install` and programs get the plugin. @param {string} version @param {string} address */
const pluginServer = (version, address) => `${address}/releases/download/v${version}`;

const notYet = "Not published yet: pack it from the clone of the repository";

/** Paragraphs, and lines for a shell. @typedef {(string | string[])[]} Blocks */
/** @typedef {(version: string, address: string | undefined) => Blocks} Part */

/** How to install a package that needs pulumi-consortium, or none of the others. @param {string} name @param {string} [more] @returns {Part} */
const ofPackage =
  (name, more = "") =>
  (version, address) => {
    const isAlone = name === "consortium-service";
    const archives = [...(isAlone ? [] : ["pulumi-consortium"]), name].map((one) => `../${one}-${version}.tgz`);
    const folders = `${isAlone ? "" : ". "}./${name.replace("consortium-", "")}`;
    if (address) return [[`npm install --save-dev ${name}@${version}${more}`]];
    return [
      `${notYet}${isAlone ? "" : ", with `pulumi-consortium`, which it needs"}:`,
      ["test -d node_modules || npm ci", `npm pack --pack-destination .. ${folders}`],
      "Then, in your project:",
      [`npm install --save-dev ${archives.join(" ")}${more}`],
    ];
  };

/** @type {Record<string, Part>} page → its part */
const parts = {
  "service/README.md": ofPackage("consortium-service"),
  "console/README.md": ofPackage("consortium-console"),
  "fleet/README.md": ofPackage("consortium-fleet", " @pulumi/pulumi"),
  "docs/console.md": (version, address) =>
    address
      ? [[`npm install --save-dev consortium-console@${version}`]]
      : [`${notYet}, [as its README says](../console/README.md#install).`],
  "docs/decide.md": (_, address) =>
    address
      ? [["npm install --save-exact pulumi-consortium"]]
      : [`${notYet}, [as the README says](../README.md#in-a-project-of-your-own).`],
  "README.md": (version, address) => {
    const packed = (/** @type {string} */ name) => (address ? `${name}@${version}` : `../${name}-${version}.tgz`);
    const inProject = [
      `npm install --save-exact ${packed("pulumi-consortium")} @pulumi/pulumi typescript@5 ts-node`,
      `npm install --save-dev ${packed("consortium-service")} ${packed("consortium-console")}`,
      "npm pkg set scripts.check=tsc",
      "printf 'name: trade\\nruntime: nodejs\\n' > Pulumi.yaml",
    ];
    if (address) return ["In your project folder, with Node.js 24:", inProject];
    return [
      `${notYet}:`,
      ["test -d node_modules || npm ci", "npm pack --pack-destination .. . ./service ./console ./fleet"],
      "Then, in your project folder (here: next to the clone), with Node.js 24:",
      inProject,
    ];
  },
  "examples/gitops/README.md": (version, address) => {
    const copy = "cp -r examples/gitops ../trade-network";
    const install = `npm install --save-exact pulumi-consortium@${version}`;
    if (address) return ["From a clone of the repository:", [copy, "cd ../trade-network", install]];
    return [
      `${notYet}, and copy the action and the template, which \`uses: ./gitops\` and \`local: gitops/gitlab.yml\` name:`,
      [
        ...["test -d node_modules || npm ci", "npm pack --pack-destination ..", copy, "cp -r gitops ../trade-network/"],
        ...["cd ../trade-network", "mkdir vendor", `mv ../pulumi-consortium-${version}.tgz vendor/`],
        `npm install ./vendor/pulumi-consortium-${version}.tgz`,
      ],
    ];
  },
  "docs/languages.md": (version, address) => {
    const rest = "--dir network --name trade --generate-only --yes";
    const run = ["pulumi stack init dev", "pulumi up"];
    if (!address)
      return [
        `${notYet}, [as the README says](../README.md#in-a-project-of-your-own). YAML, Python and Go also need the [plugin](plugin.md#install-the-plugin). From a clone next to the new project:`,
        [
          `pulumi new "$PWD/pulumi-consortium/templates/yaml" ${rest} # or python, go, typescript, javascript, network-file`,
          ...[
            "cd network",
            "pulumi package add consortium # only in Python and Go: writes the package to sdks/",
            ...run,
          ],
        ],
        `In Go, this makes \`go.mod\` use the folder in place of \`${goModuleOf(address)}\`.`,
      ];
    return [
      [
        `pulumi new ${address}/tree/v${version}/templates/yaml ${rest} # or python, go, typescript, javascript, network-file`,
        ...["cd network", "pulumi install", ...run],
      ],
      "`pulumi install` gets the packages and the plugin. In a project that exists, add the package of its language:",
      [
        `npm install pulumi-consortium@${version} # TypeScript and JavaScript`,
        `pip install pulumi-consortium==${version} # Python`,
        `go get ${goModuleOf(address)}@v${version} # Go`,
      ],
      "In YAML, name it in `Pulumi.yaml`:",
      ["```yaml", yamlPackages(version, address).trimEnd(), "```"].join("\n"),
    ];
  },
  "docs/plugin.md": (version, address) => {
    const install = `pulumi plugin install resource consortium v${version}`;
    if (address) return [[`${install} --server ${pluginServer(version, address)}`]];
    return [
      `${notYet}, where \`npm run package\` builds it for all platforms in \`dist-plugin/\`:`,
      [`${install} --file pulumi-resource-consortium-v${version}-linux-amd64.tar.gz`],
    ];
  },
  "plugin/registry/installation-configuration.md": (_, address) => [
    address
      ? "Packages: [npm](https://www.npmjs.com/package/pulumi-consortium), [PyPI](https://pypi.org/project/pulumi-consortium/)."
      : `${notYet}, as its README says.`,
  ],
};

/** @param {Blocks} blocks */
const markdown = (blocks) =>
  blocks.map((one) => (typeof one === "string" ? one : ["```sh", ...one, "```"].join("\n"))).join("\n\n");

/** @type {[string, string]} */
const marks = ["<!-- install: generated -->", "<!-- /install -->"];

/** The registry's page has the tables of the page on settings. @type {[string, string]} */
const settingMarks = ["<!-- settings: from docs/settings.md, by `npm run generate` -->", "<!-- /settings -->"];

/** Files of pipelines, and pages with parts of them: their lines that name the action and the template. */
const pipelines = [
  ...["preview", "apply", "drift"].map((name) => `examples/gitops/.github/workflows/${name}.yml`),
  "examples/gitops/.gitlab-ci.yml",
  "docs/gitops.md",
];

/** The section of a project in YAML for a plugin that Pulumi does not host. @param {string} version @param {string} address */
const yamlPackages = (version, address) => `packages:
  consortium:
    source: consortium
    version: ${version}
    pluginDownloadURL: ${pluginServer(version, address)}
`;

/**
 * Messages of templates after they made a project: language → its file, and the commands that it needs until packages exist. @type
 * {Record<string, [string, string[]]>}
 */
const starts = {
  yaml: ["Pulumi.yaml", []],
  python: ["__main__.py", ["pulumi package add consortium"]],
  go: ["main.go", ["pulumi package add consortium"]],
};

/** @param {string} language @param {string} text of Pulumi.yaml @param {About} about */
function quickstart(language, text, about) {
  const [file, adding] = starts[language] ?? ["", []];
  const address = addressOf(about);
  const plugin =
    "It runs on the provider plugin, which has to be installed once: npx --no-install consortium plugin install.";
  const lines = [
    `The network is in ${file}.${address ? "" : ` ${plugin}`}`,
    "To deploy it to a local service (npx --no-install consortium serve) or to your organization:",
    "",
    ...[...(address ? ["pulumi install"] : adding), "pulumi up"].map((line) => `    ${line}`),
  ];
  const block = lines.map((line) => (line === "" ? "" : `    ${line}`)).join("\n");
  return text.replace(/(?<=^ {2}quickstart: \|\n)[^]*?(?=^ {2}config:)/m, () => `${block}\n`);
}

/** Dependencies of the projects in the languages of the plugin. @param {About} about @param {(path: string) => string} read @returns {Record<string, string>} path → text */
export function projects(about, read) {
  const address = addressOf(about);
  const { version } = about;
  const lines = (/** @type {string} */ text, /** @type {RegExp} */ old, /** @type {string} */ line) =>
    `${text.replaceAll(old, "").trimEnd()}\n${address ? line : ""}`;
  return Object.fromEntries([
    ...["examples", "templates"].flatMap((folder) => [
      [
        `${folder}/python/requirements.txt`,
        lines(read(`${folder}/python/requirements.txt`), /^pulumi-consortium.*\n/gm, `pulumi-consortium==${version}\n`),
      ],
      [
        `${folder}/go/go.mod`,
        lines(
          read(`${folder}/go/go.mod`),
          /^\nrequire \S+\/sdk\/go v.*\n/gm,
          `\nrequire ${goModuleOf(address)} v${version}\n`,
        ),
      ],
    ]),
    ...Object.keys(starts)
      .filter((language) => language !== "yaml")
      .map((language) => {
        const file = `templates/${language}/Pulumi.yaml`;
        return [file, quickstart(language, read(file), about)];
      }),
  ]);
}

/** A project in YAML, up to its resources. @param {string} file @param {About} about @param {(path: string) => string} read */
export function yamlHead(file, about, read) {
  const address = addressOf(about);
  const [head = ""] = read(file).split(/^(?:packages|resources):$/m);
  return quickstart("yaml", head, about) + (address ? yamlPackages(about.version, address) : "");
}

/** @param {string} text @param {About} about @returns {string} the text, with pipelines that refer to the published files, or to a copy */
function naming(text, about) {
  const address = addressOf(about);
  const release = `v${about.version}`;
  const action = address ? `${new URL(address).pathname.slice(1)}/gitops@${release}` : "./gitops";
  const template = address ? `remote: ${address}/raw/${release}/gitops/gitlab.yml` : "local: gitops/gitlab.yml";
  return text
    .replaceAll(/(?<=^ *- uses: )\S+\/gitops(@\S+)?$/gm, action)
    .replaceAll(/(?<=^ *- )(local|remote): \S*gitops\/gitlab\.yml$/gm, template);
}

/** @param {About} about package.json @param {(path: string) => string} read @returns {Record<string, string>} path → text */
export function installing(about, read) {
  const pages = Object.entries(parts).map(([file, partOf]) => [
    file,
    replaced(file, read(file), marks, `\n${markdown(partOf(about.version, addressOf(about)))}`),
  ]);
  const made = Object.fromEntries(pages);
  const [registry, settings] = ["plugin/registry/installation-configuration.md", "docs/settings.md"];
  const [, tables = ""] = read(settings).split(/<!-- \/?settings -->/);
  made[registry] = replaced(registry, made[registry] ?? read(registry), settingMarks, `\n${tables.trim()}`);
  return { ...made, ...Object.fromEntries(pipelines.map((file) => [file, naming(made[file] ?? read(file), about)])) };
}
