#!/usr/bin/env bash
# preview.sh STACK: writes what `pulumi up` would do to STACK into plans/STACK.json, in which secrets are masked. Fails if the preview does.
# With copies/STACK.json, a state without secrets, it needs no state, no key and no passphrase: see copy.mjs. Without, it also writes
# plans/STACK.plan, in which secrets are encrypted, for `pulumi up --plan`.
# POLICY_PACK: folder of a policy pack that is also checked. REFRESH=true: reads the service first, to see drift.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stack="${1:?say which stack: preview.sh STACK}"
file="${stack//\//.}" # of a full name, organization/project/stack

mkdir -p plans
if [ -f "copies/$file.json" ]; then
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
  unset PULUMI_CONFIG_PASSPHRASE_FILE CONSORTIUM_API_KEY
  export PULUMI_BACKEND_URL="file://$folder/state" PULUMI_CONFIG_PASSPHRASE="nothing is secret here"
  "$here/copy.mjs" open "$stack" "$folder"
  stack="${stack##*/}"
  given=(--config-file "$folder/config.yaml")
else
  given=(--save-plan "plans/$file.plan")
fi
[ -n "${CONSORTIUM_API_KEY-}" ] || export CONSORTIUM_OFFLINE_PREVIEW=true

# One event per line: only this form includes policies and the results of a refresh. Debug messages may contain secrets, so --save
# leaves them out.
export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true
# A preview keeps no state, so it needs none for each resource: many of them take half the time.
export PULUMI_SKIP_CHECKPOINTS=true
"$here/unlocked.sh" pulumi preview --stack "$stack" --json --non-interactive "${given[@]}" \
  ${REFRESH:+--refresh} ${POLICY_PACK:+--policy-pack "$POLICY_PACK"} |
  npx --no-install consortium report --save "plans/$file.json" >/dev/null
