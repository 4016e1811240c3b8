// @ts-check
/** The quickstart's network, and what `pulumi new` starts with, in the languages of the provider plugin. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withPart } from "./markdown.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(import.meta.url);
const { examples, quickstart, starter } = require(join(root, "dist/plugin/schema/examples.js"));
const { languages, yamlBody } = require(join(root, "dist/plugin/schema/languages.js"));

const shown = ["yaml", "python", "go", "typescript"];

/** A network in each language, as Pulumi's registry shows one of them at a time. */
const chooser = [
  `{{< chooser language "${shown.join(",")}" >}}`,
  ...shown.map(
    (language) =>
      `{{% choosable language ${language} %}}\n\n\`\`\`${language}\n${languages[language](examples.AppCred.program)}\`\`\`\n\n{{% /choosable %}}`,
  ),
  "{{< /chooser >}}",
].join("\n");

const yamlTemplate = `name: \${PROJECT}
description: \${DESCRIPTION}
runtime: yaml
template:
  displayName: Consortium network, YAML
  description: A private blockchain network of two companies, in YAML
  quickstart: |
    The network is in Pulumi.yaml. It runs on the provider plugin, which has to be installed once: npx pulumi-consortium plugin install.
    To deploy it to a local service (npx pulumi-consortium serve) or to your organization:

        pulumi up
  config:
    consortium:region:
      description: "The region of your organization: us, eu, ap or ko"
      default: us
    consortium:apiKey:
      description: An API key of your organization (leave empty if CONSORTIUM_API_KEY is set)
      secret: true
`;
const yamlHead =
  "name: quickstart-yaml\ndescription: A small private blockchain network of two members\nruntime: yaml\n";

const source = "plugin/schema/examples.ts";

/** @param {(path: string) => string | undefined} read a file of the repository as it is @returns {Record<string, string>} path → text */
export const languageFiles = (read) => ({
  "examples/yaml/Pulumi.yaml": yamlHead + yamlBody(quickstart),
  "examples/python/__main__.py": languages.python(quickstart),
  "examples/go/main.go": languages.go(quickstart),
  "templates/yaml/Pulumi.yaml": yamlTemplate + yamlBody(starter),
  "templates/python/__main__.py": languages.python(starter),
  "docs/_index.md": withPart("docs/_index.md", read("docs/_index.md") ?? "", source, chooser),
});
