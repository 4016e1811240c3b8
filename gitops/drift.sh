#!/usr/bin/env bash
# drift.sh STACK: compares the service with the state of STACK, changes neither, and writes report.md. Also writes the state without
# its secrets into copies/, for preview.sh.
# Exit code 0: they agree. 2: they differ. 1: it failed, so drift is unknown. `consortium fleet drift` has the same codes.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
stack="${1:?say which stack: drift.sh STACK}"
file="${stack//\//.}"
rm -rf plans copies
mkdir plans
"$here/copy.mjs" save "$stack"

export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true
failed=0
"$here/unlocked.sh" pulumi refresh --stack "$stack" --preview-only --json --non-interactive |
  npx --no-install consortium report --save "plans/$file.json" >/dev/null || failed=$?
"$here/report.sh" "Drift of $stack"
cat report.md
has() {
  local code=0
  npx --no-install consortium report "plans/$file.json" --fail-on "$1" >/dev/null || code=$?
  [ "$code" -eq 2 ]
}
if [ "$failed" -ne 0 ] || has errors; then
  echo "drift.sh: could not find out whether $stack has drifted." >&2
  exit 1
fi
if has changes; then
  exit 2
fi
