#!/usr/bin/env bash
# preview.sh STACK: writes what `pulumi up` would do to STACK into plans/STACK.json. Fails if the preview does.
# POLICY_PACK: folder of a policy pack that is checked, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stack="${1:?say which stack: preview.sh STACK}"

mkdir -p plans
# One event a line: only this form tells of policies, and of what a refresh found.
export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true
pulumi preview --stack "$stack" --json --non-interactive ${POLICY_PACK:+--policy-pack "$POLICY_PACK"} >"plans/$stack.json"
