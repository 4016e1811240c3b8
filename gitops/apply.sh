#!/usr/bin/env bash
# apply.sh STACK: does to STACK what was approved, and nothing else.
# Approved is what the pull request showed (approved/STACK.json and .plan, from preview.sh), unless it destroys a ledger, or a
# part of one; and every plan whose digest APPROVE names, separated by spaces. Where the state or the service has changed since,
# it stops.
# POLICY_PACK: folder of a policy pack that must agree.
# Exit code 2: nothing was done, because nobody has approved it; the report has the difference, and the digest to approve.
# 3: it was applied, but applications cannot use the network, as the table says. Any other but 0: it failed. report.md says why.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stack="${1:?say which stack: apply.sh STACK}"
rm -rf plans # of other stacks

read -ra digests <<<"${APPROVE:-}"
for digest in ${digests:+"${digests[@]}"}; do
  if ! [[ "$digest" =~ ^[0-9a-f]{64}$ ]]; then # a file, such as the plan of this run, would approve itself
    echo "apply.sh: APPROVE takes digests of plans, of 64 hexadecimal digits each; \"$digest\" is none. Nothing was done." >&2
    exit 1
  fi
done
approved=(${digests:+"${digests[@]}"})
if [ -f "approved/$stack.json" ]; then
  approved+=("approved/$stack.json")
fi

planned=0
REFRESH=true "$here/preview.sh" "$stack" || planned=$?
code=0
"$here/report.sh" "Applying $stack" ${approved:+--approved "${approved[@]}"} --fail-on errors unapproved ledger-loss || code=$?
cat report.md
if [ "$planned" -ne 0 ]; then
  echo "apply.sh: the preview of $stack failed, nothing was done." >&2
  exit "$planned"
elif [ "$code" -ne 0 ]; then
  echo "apply.sh: nothing was done to $stack: see the report. APPROVE=<digest> approves the plan that it shows." >&2
  exit "$code"
fi

# A digest approves the plan of this run. Whatever else passed is the plan that the pull request showed.
plan="plans/$stack.plan"
if [ -f "approved/$stack.json" ]; then
  npx --no-install pulumi-consortium report "plans/$stack.json" ${digests:+--approved "${digests[@]}"} --fail-on unapproved \
    >/dev/null || plan="approved/$stack.plan"
fi

# Pulumi stops at a step that is not in the plan. With --refresh, that includes what has drifted since the preview.
"$here/unlocked.sh" pulumi up --stack "$stack" --yes --skip-preview --non-interactive --refresh --plan "$plan" \
  ${POLICY_PACK:+--policy-pack "$POLICY_PACK"}

# Started nodes, credentials that work, blocks that come: what `up` does not see.
npx --no-install pulumi-consortium check --stack "$stack" || {
  echo "apply.sh: $stack was applied, but it could not be shown that applications can use it: see the table." >&2
  exit 3
}
