import eslint from "@eslint/js";
import globals from "globals";
import tseslint from "typescript-eslint";

const spreadLiteral = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression.argument",
  message: "Write the keys of a literal one by one.",
};

const withoutCode = {
  selector: "NewExpression[callee.name='Error'][arguments.length>0]",
  message: "An error for people has a code: UserError, of provider/errors.ts.",
};

/** A number with a separator, a number that is slept for, and one with the name of a time. */
const times = [
  "Literal[raw=/^\\d+_\\d{3}/]",
  "CallExpression[callee.property.name='sleep'] > Literal[raw=/^[1-9]/]",
  "VariableDeclarator[id.name=/(Ms|Seconds)$/] > Literal[raw=/^[1-9]/].init",
].map((selector) => ({ selector, message: "A time of the core stands in provider/core/times.ts, with its reason." }));

export default tseslint.config(
  { ignores: ["**/dist/", "**/node_modules/", ".consortium/", "coverage/", "**/*.generated.*"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      // Three programs for all files: each one that there is more of parses and checks Pulumi's types anew.
      parserOptions: {
        project: ["tests/tsconfig.json", "examples/tsconfig.json", "console/page/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "no-console": "error",
      "no-restricted-syntax": ["error", spreadLiteral],
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "Settings enter at one edge: see provider/api/environment.ts." },
      ],
    },
  },
  {
    // Each step of a verb can be read at once.
    files: ["provider/{core,pulumi}/**/*.ts"],
    rules: { "max-lines-per-function": ["error", { max: 40, skipComments: true, skipBlankLines: true }] },
  },
  {
    files: ["provider/{core,pulumi}/**/*.ts", "provider/resources/{fields,inside,losses,tree}.ts"],
    ignores: ["provider/core/times.ts"],
    rules: { "no-restricted-syntax": ["error", spreadLiteral, ...times] },
  },
  {
    // What a probe cannot find out is an answer, not an error. An `Error` without an argument is for a code of Node.js.
    files: [
      "cli/**",
      "fleet/**",
      "inventory/**",
      "observe/**",
      "console/server/**",
      "console/command/**",
      "internal/**",
    ],
    ignores: ["cli/probe/**"],
    rules: { "no-restricted-syntax": ["error", spreadLiteral, withoutCode] },
  },
  {
    files: ["**/*.mjs", "**/*.cjs", "tools/**", "bench/**"],
    languageOptions: { globals: globals.node },
  },
  {
    files: [
      "tests/**",
      "bench/**",
      "tools/**",
      "cli/**",
      "fleet/**",
      "service/command/**",
      "console/command/**",
      "provider/api/environment.ts",
    ],
    rules: { "no-restricted-properties": "off", "no-console": "off" },
  },
  {
    // What a command tells goes through `print` and `say`, which show foreign text safely.
    files: ["cli/**", "fleet/**"],
    ignores: ["cli/shared/terminal.ts"],
    rules: { "no-console": "error" },
  },
  {
    // A resource class gets its outputs from an interface of the same name: Pulumi sets them, and nothing is emitted.
    files: ["sdk/*.ts", "sdk/classes/*.ts"],
    rules: {
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
    },
  },
  {
    files: [
      "cli/**",
      "fleet/**",
      "console/server/**",
      "internal/**",
      "inventory/**",
      "observe/**",
      "plugin/**",
      "provider/**",
      "sdk/**",
    ],
    ignores: ["provider/api/otel.ts"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "ethers",
              allowTypeImports: true,
              message: "Not every user has it installed: see sdk/runtime/ethers.ts.",
            },
          ],
          patterns: [
            {
              group: ["@opentelemetry/*"],
              allowTypeImports: true,
              message: "Not every user has it installed: see provider/api/trace.ts.",
            },
          ],
        },
      ],
    },
  },
);
