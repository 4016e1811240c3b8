/** Unit tests read the sources; end-to-end tests (tests/e2e) drive the real Pulumi CLI on the build in dist/. */
const transform = {
  "^.+\\.(ts|mjs)$": [
    "@swc/jest",
    { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
  ],
};
const common = {
  transform,
  testEnvironment: "node",
  globalSetup: "<rootDir>/tests/support/jest/temporary.ts",
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": "$1" },
  rootDir: import.meta.dirname,
  // Their package.json all have the same name until `pulumi new` writes it.
  modulePathIgnorePatterns: ["<rootDir>/templates/"],
};

export default {
  maxWorkers: 2,
  testSequencer: "<rootDir>/tests/support/jest/sequencer.mjs",
  projects: [
    {
      ...common,
      displayName: "unit",
      testMatch: ["<rootDir>/tests/**/*.test.ts"],
      testPathIgnorePatterns: ["/node_modules/", "/tests/e2e/"],
    },
    {
      ...common,
      displayName: "e2e",
      testMatch: ["<rootDir>/tests/e2e/**/*.test.ts"],
      setupFilesAfterEnv: ["<rootDir>/tests/e2e/support/setup.ts"],
    },
  ],
};
