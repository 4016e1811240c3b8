#!/usr/bin/env bash
# apply.sh STACK: applies the approved plan of STACK, and nothing else.
# Approved are the plan of the pull request (approved/STACK.json, from preview.sh), unless it destroys a ledger or a part of one, and
# each plan with a digest in APPROVE, separated by spaces. It stops if the state or the service has changed since.
# Afterwards it writes the state without its secrets into copies/, for preview.sh.
# POLICY_PACK: folder of a policy pack that must agree.
# Exit code 2: nothing was done, because the plan is not approved; the report shows the difference and the digest to approve.
# 3: it was applied, but applications cannot use the network: see the table. Any other code except 0: it failed; see report.md.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stack="${1:?say which stack: apply.sh STACK}"
file="${stack//\//.}" # of a full name, organization/project/stack
rm -rf plans copies # of other stacks

read -ra digests <<<"${APPROVE:-}"
for digest in ${digests:+"${digests[@]}"}; do
  if ! [[ "$digest" =~ ^[0-9a-f]{64}$ ]]; then # a file, such as the plan of this run, would approve itself
    echo "apply.sh: APPROVE takes digests of plans, of 64 hexadecimal digits each; \"$digest\" is not one. Nothing was done." >&2
    exit 1
  fi
done
approved=(${digests:+"${digests[@]}"})
if [ -f "approved/$file.json" ]; then
  approved+=("approved/$file.json")
fi

planned=0
REFRESH=true "$here/preview.sh" "$stack" || planned=$?
code=0
"$here/report.sh" "Applying $stack" ${approved:+--approved "${approved[@]}"} --fail-on errors unapproved ledger-loss || code=$?
cat report.md
if [ "$planned" -ne 0 ]; then
  echo "apply.sh: the preview of $stack failed. Nothing was done." >&2
  exit "$planned"
elif [ "$code" -ne 0 ]; then
  echo "apply.sh: nothing was done to $stack: see the report. APPROVE=<digest> approves the plan that it shows." >&2
  exit "$code"
fi

# This run's plan is the approved one, with the secrets that a pull request must not see. Pulumi stops at a step that is not in it. With
# --refresh, that includes what has drifted since the preview.
applied=0
"$here/unlocked.sh" pulumi up --stack "$stack" --yes --skip-preview --non-interactive --refresh --plan "plans/$file.plan" \
  ${POLICY_PACK:+--policy-pack "$POLICY_PACK"} || applied=$?
"$here/copy.mjs" save "$stack"
[ "$applied" -eq 0 ] || exit "$applied"

# Checks what `up` does not: started nodes, working credentials, new blocks.
npx --no-install consortium check --stack "$stack" || {
  echo "apply.sh: $stack was applied, but it could not be shown that applications can use it: see the table." >&2
  exit 3
}
