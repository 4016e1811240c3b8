#!/usr/bin/env bash
# apply.sh STACK: makes STACK what the program says, unless that destroys a ledger, or a part of one.
# ALLOW_LEDGER_LOSS=true: does that, too. POLICY_PACK: folder of a policy pack that must agree.
# Exit code 2: nothing was done, since it would destroy a ledger. 3: it was applied, but applications cannot use the
# network, as the table says. Any other but 0: it failed. report.md says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stack="${1:?say which stack: apply.sh STACK}"
rm -rf plans # of other stacks

planned=0
scripts/preview.sh "$stack" || planned=$?
scripts/report.sh "Applying $stack"
cat report.md
if [ "$planned" -ne 0 ]; then
  echo "apply.sh: the preview of $stack failed, nothing was done." >&2
  exit "$planned"
fi

refuse=(errors ledger-loss)
if [ "${ALLOW_LEDGER_LOSS:-false}" = true ]; then
  refuse=(errors)
fi
npx --no-install pulumi-consortium report "plans/$stack.json" --fail-on "${refuse[@]}" >/dev/null || {
  code=$?
  echo "apply.sh: nothing was done to $stack: see the report. ALLOW_LEDGER_LOSS=true lets a ledger be destroyed." >&2
  exit "$code"
}
scripts/unlocked.sh pulumi up --stack "$stack" --yes --skip-preview --non-interactive ${POLICY_PACK:+--policy-pack "$POLICY_PACK"}

# Started nodes, credentials that work, blocks that come: what `up` does not see.
npx --no-install pulumi-consortium check --stack "$stack" || {
  echo "apply.sh: $stack was applied, but it could not be shown that applications can use it: see the table." >&2
  exit 3
}
