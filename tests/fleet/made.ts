import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Counts, type FleetResult, emptyResult, type StackResult } from "../../fleet/results";
import { type Fleet, FleetFile, type FleetStack, type Organization } from "../../fleet/schema";

/** What `--json` prints. */
export type Summary = FleetResult & { ok: boolean; total: Counts };

/** Writes a file, and returns its path. */
export function writeIn(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** A folder that is deleted after the tests. */
export const temporary = (): string => mkdtempSync(join(tmpdir(), "consortium-fleet-"));

export const stackOf = (change: Partial<FleetStack> = {}): FleetStack => ({
  name: "acme-prod",
  organization: { name: "acme", apiKey: { env: "KEY" } },
  adopt: false,
  dependsOn: [],
  paths: [],
  place: [],
  ...change,
});

/** The result of a stack that was up to date. */
export const result = (change: Partial<StackResult> = {}): StackResult =>
  emptyResult({ stack: "acme-prod", organization: "acme", outcome: "ok", seconds: 1.25, ...change });

/** A fleet with a stack in each organization. */
export const fleetOf = (organizations: Organization[], change: Partial<Fleet> = {}): Fleet => ({
  file: "fleet.yaml",
  folder: temporary(),
  project: "trade",
  parallel: 4,
  organizations,
  stacks: organizations.map((organization) => stackOf({ name: `${organization.name}-prod`, organization })),
  policyPacks: [],
  kubernetes: FleetFile.shape.kubernetes.parse(undefined),
  ...change,
});

/** A network with a value of each type, and texts with a special meaning in Pulumi YAML. */
export const misreadable = {
  adopt: true,
  members: { no: { orgName: "$${a} $$ 5$ ${b}" }, on: { extra: { "${k}": ["2026-01-01", 1.5e-7, true, {}] } } },
  environments: {
    ledger: {
      provider: "geth",
      consensusType: "poa",
      protect: true,
      chainId: 12,
      nodeDefaults: { size: "small", nodeConfigId: "c1" },
      nodes: { no: 1, on: { "1e3": { role: "0123" } } },
      prefundedAccounts: { "0x00000000000000000000000000000000000000aa": { balance: "5" } },
      credentials: { reports: { member: "on", keepers: { year: 2026 } }, named: { member: "no", name: "~" } },
      tether: {
        consoleUrl: "https://console.example.com/tethers/tether0001",
        network: "mainnet",
        intervalHours: 24,
        active: false,
        minimumBalanceWei: "100000000000000000000",
        waitForFunds: "30m",
      },
    },
  },
} as const;
