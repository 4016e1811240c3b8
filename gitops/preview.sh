#!/usr/bin/env bash
# preview.sh STACK: writes what `pulumi up` would do to STACK into plans/STACK.json (for people) and plans/STACK.plan (for
# `pulumi up --plan`). Fails if the preview does. The first masks secrets, the second encrypts them.
# POLICY_PACK: folder of a policy pack that is also checked. REFRESH=true: reads the service first, to see drift.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stack="${1:?say which stack: preview.sh STACK}"

# A pull request has no key of the service: apply.sh previews again, with one.
[ -n "${CONSORTIUM_API_KEY-}" ] || export CONSORTIUM_OFFLINE_PREVIEW=true

mkdir -p plans
# One event per line: only this form includes policies and the results of a refresh. Debug messages may contain secrets, so --save
# leaves them out.
export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true
# A preview keeps no state, so it needs none for each resource: many of them take half the time.
export PULUMI_SKIP_CHECKPOINTS=true
"$here/unlocked.sh" pulumi preview --stack "$stack" --json --non-interactive --save-plan "plans/$stack.plan" \
  ${REFRESH:+--refresh} ${POLICY_PACK:+--policy-pack "$POLICY_PACK"} |
  npx --no-install pulumi-consortium report --save "plans/$stack.json" >/dev/null
