// @ts-check
/**
 * What pages say of installing: until package.json has a `repository`, nothing is published, and users pack what they need from the
 * clone. Once it has, packages are on npm and plugins at its releases.
 */

import { replaced } from "./markdown.mjs";

/** @typedef {{ version: string, repository?: string | { url: string } }} About */

/** @param {About} about @returns {string | undefined} the address of the repository */
const addressOf = ({ repository }) =>
  (typeof repository === "string" ? repository : repository?.url)?.replace(/^git\+|\.git$/g, "");

const notYet = "Not published yet: pack it from the clone of the repository";

/** Paragraphs, and what a shell is told, line by line. @typedef {(string | string[])[]} Blocks */
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
      ["npm ci", `npm pack --pack-destination .. ${folders}`],
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
  "docs/upgrading.md": (_, address) =>
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
      ["npm ci", "npm pack --pack-destination .. . ./service ./console ./fleet"],
      "Then, in your project folder (here: next to the clone), with Node.js 24:",
      inProject,
    ];
  },
  "docs/gitops.md": (_, address) => {
    const rest = "--dir network --name trade --generate-only --yes";
    if (address) return [[`pulumi new ${address}/templates/typescript ${rest}`]];
    return [
      `${notYet}, [as the README says](../README.md#in-a-project-of-your-own). From a clone next to the new project:`,
      [`pulumi new "$PWD/pulumi-consortium/templates/typescript" ${rest}`],
    ];
  },
  "examples/gitops/README.md": (version, address) => {
    const copy = "cp -r examples/gitops ../trade-network";
    const install = `npm install --save-exact pulumi-consortium@${version}`;
    if (address) return ["From a clone of the repository:", [copy, "cd ../trade-network", install]];
    return [
      `${notYet}, and copy the action and the template, which \`uses: ./gitops\` and \`local: gitops/gitlab.yml\` name:`,
      [
        ...["npm ci", "npm pack --pack-destination ..", copy, "cp -r gitops ../trade-network/"],
        ...["cd ../trade-network", "mkdir vendor", `mv ../pulumi-consortium-${version}.tgz vendor/`],
        `npm install ./vendor/pulumi-consortium-${version}.tgz`,
      ],
    ];
  },
  "docs/languages.md": (version, address) => {
    const install = `pulumi plugin install resource consortium v${version}`;
    if (address) return [[`${install} --server ${address}/releases/download/v${version}`]];
    return [
      `${notYet}, where \`npm run package\` builds it for all platforms in \`dist-plugin/\`. Install the one for yours from its file:`,
      [`${install} --file pulumi-resource-consortium-v${version}-linux-amd64.tar.gz`],
    ];
  },
  "docs/installation-configuration.md": (_, address) => [
    address
      ? "The npm package is [`pulumi-consortium`](https://www.npmjs.com/package/pulumi-consortium)."
      : `${notYet}, as its README says.`,
  ],
};

/** @param {Blocks} blocks */
const markdown = (blocks) =>
  blocks.map((one) => (typeof one === "string" ? one : ["```sh", ...one, "```"].join("\n"))).join("\n\n");

/** @type {[string, string]} */
const marks = ["<!-- install: from package.json, by `npm run generate` -->", "<!-- /install -->"];

/** Files of pipelines, and pages with parts of them: their lines that name the action and the template. */
const pipelines = [
  ...["preview", "apply", "drift"].map((name) => `examples/gitops/.github/workflows/${name}.yml`),
  "examples/gitops/.gitlab-ci.yml",
  "docs/gitops.md",
];

/** @param {string} text @param {About} about @returns {string} the text, where pipelines name what is published, or a copy */
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
  return { ...made, ...Object.fromEntries(pipelines.map((file) => [file, naming(made[file] ?? read(file), about)])) };
}
