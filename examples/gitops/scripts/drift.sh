#!/usr/bin/env bash
# drift.sh STACK: compares the service with the state of STACK, changes neither, and writes report.md.
# Exit code 0: they agree. 2: they do not. 1: it could not be found out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
stack="${1:?say which stack: drift.sh STACK}"
rm -rf plans
mkdir plans

export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true
found=0
pulumi refresh --stack "$stack" --preview-only --expect-no-changes --json --non-interactive >"plans/$stack.json" || found=$?
scripts/report.sh "Drift of $stack"
cat report.md
if [ "$found" -eq 0 ]; then
  exit 0
fi
npx --no-install consortium report "plans/$stack.json" --fail-on errors >/dev/null || exit 1
exit 2
