/**
 * Unit and integration tests read the sources; the latter run in real time, on ledgers, chains and processes that they start and kill.
 * The others run what users have: the build in dist/, with the real Pulumi CLI in stories and e2e, a browser, the linters of forges.
 * `npm test` runs unit, dist and the stories; `npm run test:all` runs all. `npm run pictures` takes the pictures of the docs.
 */
const transform = {
  "\\.(ts|mjs)$|/otlp-exporter-base/.+\\.js$": [
    "@swc/jest",
    { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
  ],
};
const common = {
  transform,
  transformIgnorePatterns: ["/node_modules/(?!.*/otlp-exporter-base/)"], // it has `import()`, which Jest cannot run as it is
  testEnvironment: "<rootDir>/tests/support/jest/environment.mjs",
  globalSetup: "<rootDir>/tests/support/jest/temporary.ts",
  moduleNameMapper: {
    // The packages of this repository, from their sources.
    "^pulumi-consortium/internal/(\\w+)$": "<rootDir>/internal/$1.ts",
    "^consortium-service$": "<rootDir>/service/index.ts",
    "^consortium-service/command$": "<rootDir>/service/command/serve.ts",
    "^consortium-console$": "<rootDir>/console/server/console.ts",
    "^consortium-console/command$": "<rootDir>/console/command/console.ts",
    "^consortium-fleet/command$": "<rootDir>/fleet/command.ts",
    "^(\\.{1,2}/.*)\\.js$": "$1",
    "^@npmcli/arborist$|/typescript-shim$": "<rootDir>/tests/support/jest/unused.ts",
  },
  rootDir: import.meta.dirname,
  // Their package.json all have the same name until `pulumi new` writes it.
  modulePathIgnorePatterns: ["<rootDir>/templates/", "<rootDir>/(service|console|fleet)/dist/"],
};

/** Of tests in real time. */
const slow = { setupFilesAfterEnv: ["<rootDir>/tests/support/jest/long.ts"] };
const ofPrograms = { ...slow, testEnvironmentOptions: { programs: true } };

/** Contracts of which nothing has changed (tools/lib/contracts.mjs). */
const leftOut = (process.env.TESTS_LEFT_OUT ?? "").split(" ").filter(Boolean);

/** Folders of integration tests. */
const integration = ["fleet", "observe", "service/ledger", "service/store", "service/tether"];
/** Tests beside them that start what is in dist/, or a compiler. */
const onDist = [
  ...["cli/command-line", "cli/printable", "docs/programs", "provider/dynamic/host"],
  ...["sdk/network/schema", "sdk/runtime/connect", "tools/plugin"],
];

export default {
  maxWorkers: 4, // two cores: half of the time of most files is waiting, for chains, servers and each other's processes
  testTimeout: 60_000 * Number(process.env.TEST_PATIENCE ?? 1), // ends what hangs; CI waits longer
  // A worker that has nothing left to do still frees a heap of up to 1 GB, which takes it 0.1 to 0.4 s, and longer on a busy machine.
  // What keeps a worker alive for good is still told.
  workerGracefulExitTimeout: 10_000,
  reporters: ["<rootDir>/tests/support/jest/reporter.mjs", "summary"],
  testSequencer: "<rootDir>/tests/support/jest/sequencer.mjs",
  projects: [
    {
      ...common,
      displayName: "unit",
      testMatch: ["<rootDir>/tests/**/*.test.ts"],
      testPathIgnorePatterns: [
        "/node_modules/",
        ...["e2e", ...integration].map((folder) => `/tests/${folder}/`),
        ...onDist.map((name) => `/tests/${name}\\.test\\.ts$`),
      ],
    },
    {
      ...common,
      ...slow,
      displayName: "dist",
      testMatch: onDist.map((name) => `<rootDir>/tests/${name}.test.ts`),
    },
    {
      ...common,
      ...slow,
      displayName: "integration",
      testMatch: integration.map((folder) => `<rootDir>/tests/${folder}/**/*.test.ts`),
    },
    {
      ...common,
      displayName: "stories",
      testMatch: ["<rootDir>/tests/e2e/stories/**/*.test.ts"],
      ...ofPrograms,
    },
    {
      ...common,
      displayName: "e2e",
      testMatch: ["<rootDir>/tests/e2e/**/*.test.ts"],
      testPathIgnorePatterns: ["/node_modules/", "/tests/e2e/stories/", ...leftOut.map((file) => `/${file}$`)],
      ...ofPrograms,
    },
    { ...common, ...ofPrograms, displayName: "pictures", testMatch: ["<rootDir>/tests/console/pictures.ts"] },
  ],
};
