import { z } from "zod";
import { paths } from "../api/paths";
import { printable } from "../api/printable";
import { Anything } from "../api/wire";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { isUnknown } from "../core/values";
import { durationSeconds, tetherNetworks } from "../constants";
import { customTimeouts, listed, lowerCase, tetherIdLength, tetherIdText } from "./fields";
import { begin, configure, stop } from "./tether/configure";
import { withPatience } from "./tether/funds";
import { hasContract, isShown, read } from "./tether/read";

const duration = 'waitForFunds must be a duration, such as "90s", "30m" or "1h30m"';
const rinkebyEnded =
  'the public network "rinkeby" was shut down in 2023: the service decides which network that name stands for';
const wholeWei = "minimumBalanceWei must be a whole number of wei, as text";

export const tetherService: Definition = {
  type: "TetherService",
  title: "tether service",
  doc:
    "Pins the state of an environment's ledger to a public chain. The service itself is created in the console; " +
    "this resource configures it, deploys its contract once per network, and starts and stops it.",
  inputs: z.strictObject({
    tetherId: field(
      tetherIdText(
        "tetherId is missing: give tetherId, or consoleUrl: (the address of the tether service in the console)",
      ),
      `Id of the tether service, ordered in the console: ${tetherIdLength} characters.`,
      {
        inTypeScript: "Programs can pass its console address as `consoleUrl` instead, which ends in the id.",
        onChange: "replace",
      },
    ),
    network: field(
      listed("network", tetherNetworks),
      "Public chain that the state is pinned to: `mainnet` or `rinkeby`, or `local` on the embedded service.",
      { normal: lowerCase, known: tetherNetworks },
    ),
    intervalHours: field(
      z.int({ error: "intervalHours must be a whole number of hours" }).min(1, "intervalHours must be at least 1"),
      "Hours between two pins: a whole number, at least 1.",
    ),
    active: field(z.boolean({ error: "active must be true or false" }).default(true), "Whether it pins.", {
      default: "`true`",
    }),
    minimumBalanceWei: field(
      z
        .union([z.string().regex(/^\d+$/, wholeWei), z.int(wholeWei).min(0, wholeWei)], { error: wholeWei })
        .transform(String)
        .pipe(z.string())
        .optional(),
      "Balance in wei that the account needs on the network before the contract is deployed there.",
      {
        default: "more than zero",
        visibility: "program",
        normal: (wei) => (typeof wei === "string" ? wei.replace(/^0+(?=\d)/, "") : wei),
      },
    ),
    waitForFunds: field(
      z
        .string({ error: duration })
        .refine((text) => durationSeconds(text) !== undefined, duration)
        .optional(),
      "How long to wait for funds while the balance is too low, such as `30m`. `customTimeouts` do not shorten it.",
      { default: "do not wait, and fail before anything is spent", visibility: "program", onChange: "ignore" },
    ),
    extra: field(
      z.record(z.string(), z.unknown(), { error: "extra must be an object of fields" }).optional(),
      "Additional fields for the body of `deploy`, sent unchanged.",
      { visibility: "program", onChange: "ignore" },
    ),
    customTimeouts: customTimeouts(),
  }),
  outputs: z.object({
    account: field(z.string().optional(), "Address that pays for the pins on the public chain."),
    balanceWei: field(z.string().optional(), "Balance of the account in wei, as of the last change."),
    state: field(z.string().optional(), "Progress: `configured`, `deployed`, `active` or `inactive`."),
    deployedNetworks: field(z.array(z.string()).optional(), "Networks to which this resource deployed the contract."),
  }),
  wire: Anything,
  place: () => ({ collection: paths.tethers }),
  steps: {
    idKey: "tetherId",
    cautions: ({ network }) => (network === "rinkeby" ? [rinkebyEnded] : []),
    // A look costs a call, which previews do not make.
    costs: ({ network }, { deployedNetworks } = {}) =>
      hasContract(deployedNetworks, network)
        ? []
        : [
            `pays for a contract${isUnknown(network) ? "" : ` on ${printable(String(network))}`} from its account, unless the service shows that it has one there`,
          ],
    isShown,
    settled: ({ state, active, network, deployedNetworks }) =>
      state !== undefined && (state === "active") === (active !== false) && hasContract(deployedNetworks, network),
    async create(session, inputs) {
      const state = await begin(withPatience(session, inputs), inputs);
      return { id: String(inputs.tetherId), state };
    },
    read,
    update: (session, _id, olds, news) => configure(withPatience(session, news), olds, news),
    async delete(session, id, state) {
      await stop(session, id, state);
      return undefined;
    },
  },
};
