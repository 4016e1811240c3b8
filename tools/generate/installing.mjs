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

const shell = (/** @type {string[]} */ ...lines) => ["```sh", ...lines, "```"].join("\n");
const paragraphs = (/** @type {string[]} */ ...all) => all.join("\n\n");

const notYet = "Not published yet: pack it from the clone of the repository";

/** @typedef {(about: About, address: string | undefined) => string} Part */

/** How to install a package that needs pulumi-consortium, or none of the others. @param {string} name @param {string} [more] @returns {Part} */
const ofPackage =
  (name, more = "") =>
  ({ version }, address) => {
    const isAlone = name === "consortium-service";
    const archives = [...(isAlone ? [] : ["pulumi-consortium"]), name].map((one) => `../${one}-${version}.tgz`);
    const folders = `${isAlone ? "" : ". "}./${name.replace("consortium-", "")}`;
    return address
      ? shell(`npm install --save-dev ${name}@${version}${more}`)
      : paragraphs(
          `${notYet}${isAlone ? "" : ", with `pulumi-consortium`, which it needs"}:`,
          shell("npm ci", `npm pack --pack-destination .. ${folders}`),
          "Then, in your project:",
          shell(`npm install --save-dev ${archives.join(" ")}${more}`),
        );
  };

/** @type {Record<string, Part>} page → its part */
const parts = {
  "service/README.md": ofPackage("consortium-service"),
  "console/README.md": ofPackage("consortium-console"),
  "fleet/README.md": ofPackage("consortium-fleet", " @pulumi/pulumi"),
  "docs/console.md": ({ version }, address) =>
    address
      ? shell(`npm install --save-dev consortium-console@${version}`)
      : `${notYet}, [as its README says](../console/README.md#install).`,
  "docs/upgrading.md": (_, address) =>
    address
      ? shell("npm install --save-exact pulumi-consortium")
      : `${notYet}, [as the README says](../README.md#in-a-project-of-your-own).`,
  "README.md": ({ version }, address) => {
    const others = "@pulumi/pulumi typescript@5 ts-node";
    const project = "printf 'name: trade\\nruntime: nodejs\\n' > Pulumi.yaml";
    return address
      ? paragraphs(
          "In your project folder, with Node.js 24:",
          shell(
            `npm install --save-exact pulumi-consortium@${version} ${others}`,
            `npm install --save-dev consortium-service@${version} consortium-console@${version}`,
            project,
          ),
        )
      : paragraphs(
          `${notYet}:`,
          shell("npm ci", "npm pack --pack-destination .. . ./service ./console ./fleet"),
          "Then, in your project folder (here: next to the clone), with Node.js 24:",
          shell(
            `npm install --save-exact ../pulumi-consortium-${version}.tgz ${others}`,
            `npm install --save-dev ../consortium-service-${version}.tgz ../consortium-console-${version}.tgz`,
            project,
          ),
        );
  },
  "docs/gitops.md": (_, address) => {
    const rest = "--dir network --name trade --generate-only --yes";
    return address
      ? shell(`pulumi new ${address}/templates/typescript ${rest}`)
      : paragraphs(
          `${notYet}, [as the README says](../README.md#in-a-project-of-your-own). From a clone next to the new project:`,
          shell(`pulumi new "$PWD/pulumi-consortium/templates/typescript" ${rest}`),
        );
  },
  "examples/gitops/README.md": ({ version }, address) => {
    const copy = ["cp -r examples/gitops ../trade-network"];
    return address
      ? paragraphs(
          "From a clone of the repository:",
          shell(...copy, "cd ../trade-network", `npm install --save-exact pulumi-consortium@${version}`),
        )
      : paragraphs(
          `${notYet}, and copy the action and the template, which \`uses: ./gitops\` and \`local: gitops/gitlab.yml\` name:`,
          shell(
            "npm ci",
            "npm pack --pack-destination ..",
            ...copy,
            "cp -r gitops ../trade-network/",
            "cd ../trade-network",
            "mkdir vendor",
            `mv ../pulumi-consortium-${version}.tgz vendor/`,
            `npm install ./vendor/pulumi-consortium-${version}.tgz`,
          ),
        );
  },
  "docs/languages.md": ({ version }, address) => {
    const install = `pulumi plugin install resource consortium v${version}`;
    return address
      ? shell(`${install} --server ${address}/releases/download/v${version}`)
      : paragraphs(
          `${notYet}, where \`npm run package\` builds it for all platforms in \`dist-plugin/\`. Install the one for yours from its file:`,
          shell(`${install} --file pulumi-resource-consortium-v${version}-linux-amd64.tar.gz`),
        );
  },
  "docs/installation-configuration.md": (_, address) =>
    address
      ? "The npm package is [`pulumi-consortium`](https://www.npmjs.com/package/pulumi-consortium)."
      : `${notYet}, as its README says.`,
};

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
    replaced(file, read(file), marks, `\n${partOf(about, addressOf(about))}`),
  ]);
  const made = Object.fromEntries(pages);
  return { ...made, ...Object.fromEntries(pipelines.map((file) => [file, naming(made[file] ?? read(file), about)])) };
}
