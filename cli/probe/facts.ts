/**
 * What the provider assumes of the hosted service where its specification is silent, one row each, and what it does. None of it was seen on
 * the hosted service: `consortium probe` asks. `npm run generate` writes the table of docs/maintainers/hosted.md from it.
 */
export const facts = {
  environmentWaits: {
    fact: "An environment stays `initializing` until something is put into it",
    sure: "clients",
    provider:
      "It waits 20 seconds for a new environment, then goes on. A create that is refused as too early is sent again until its timeout",
  },
  upgrades: {
    fact: "Releases are upgraded by the service itself",
    sure: "documented",
    provider: "`releaseId` changes in place; a release that moved is no change; an older one than what runs is refused",
  },
  invited: {
    fact: "An organization that was invited sees the consortium, with the inviter as `owner`",
    sure: "inferred",
    provider:
      "It asks whose the key is: `/apikeys`, `/orgs`, `/memberships`, then the members of the consortia. An ambiguous answer is refused until `organization` is set",
  },
  secretOfOrgs: {
    fact: "`/orgs` shows a secret",
    sure: "others",
    provider: "It reads the ids and keeps nothing else",
  },
  plainErrors: {
    fact: "A 404 has no body, or plain text; so has a 401",
    sure: "clients",
    provider:
      "A short plain 404 counts as missing if the address has answered JSON, or does when asked for the consortia. An HTML page never does",
  },
  deletion: {
    fact: "Deleted objects are `delete_pending`, then `deleted`, and stay listed",
    sure: "documented",
    provider: "An object that is being deleted is never adopted or taken for ready; a create waits for its name",
  },
  bareAddresses: {
    fact: "`prefunded_accounts` have no `0x`",
    sure: "documented",
    provider: "They are sent without it, balances as decimal text; programs may write either",
  },
  interval: {
    fact: "The interval of a tether is in hours or in minutes",
    sure: "documented, both",
    provider:
      "Before anything is paid, the answer is compared with the request. A warning names both units if need be; `consortium check` compares reports",
  },
  tetherAccount: {
    fact: "A tether has no account at first",
    sure: "clients",
    provider: "`POST /tether/{id}/account` makes it",
  },
  zoneDelete: {
    fact: "Zones may have no DELETE: the Terraform provider never sends it, the Go SDK can",
    sure: "clients",
    provider: "They stay, and are deleted with their environment or consortium",
  },
  clients: {
    fact: "There are more blockchain clients than in the specification, such as `pantheon` (Besu), `fabric` and `corda`",
    sure: "documented",
    provider: "Known pairs are checked; any other text goes to the service, and the preview warns",
  },
  quorumNode: {
    fact: "A quorum node has its address under `quorum`; `urls` are in the node itself",
    sure: "clients",
    provider: "Both are read",
  },
  autopause: {
    fact: "`autopause_init_delay`, `autopause_idle_hours`",
    sure: "documented",
    provider: "Read as `initialDelay` and `idleHours`",
  },
  pause: {
    fact: 'Environments are paused and resumed by `PATCH {"state"}`',
    sure: "documented",
    provider: "`paused` of an `Environment`; a preview that would put a node into a paused one warns",
  },
  membershipKept: {
    fact: "A membership is kept while its nodes are being deleted",
    sure: "clients",
    provider: "Its deletion is repeated for two minutes after the last deletion of the run",
  },
  regions: {
    fact: "Regions `us1` and `eu1`; the id of a key begins with its region",
    sure: "others",
    provider: "Both are regions; a 401 says if the key is of another one",
  },
  lists: {
    fact: "Lists take `limit` and `skip`; a default limit is not named",
    sure: "documented",
    provider: "Neither is sent: `Link` is followed, and a list that says it is a part proves nothing",
  },
  operators: {
    fact: "Values of filters may begin with an operator",
    sure: "documented",
    provider: "Such a name is not sent, but compared here",
  },
  token: {
    fact: "`POST /authtoken` gives a token for a key, for an hour; calls with it are quicker",
    sure: "clients",
    provider: "Not used: each call sends the key, as the specification says",
  },
  regenerate: {
    fact: "`POST …/appcreds/{id}/regenerate` gives a new password for the same user name",
    sure: "clients",
    provider:
      "`rotateWhenChanged` of an `AppCred` asks for it. Unasked, only for a new credential whose password did not come. Elsewhere: `keepers`",
  },
  chains: {
    fact: "Public chains besides `mainnet` and `rinkeby`, which was shut down in 2023",
    sure: "inferred",
    provider: "Any `network` of a tether goes to the service; the preview warns of others, and of `rinkeby`",
  },
  limits: {
    fact: "Limits are those of the plan (`/orgs`, `/plans/{plan}`)",
    sure: "clients",
    provider:
      "`consortium check` and `fleet preview` ask for them. Elsewhere those of the starter plan count, unless a network file or a policy sets others",
  },
} as const satisfies Record<string, { fact: string; sure: string; provider: string }>;

export type FactName = keyof typeof facts;
