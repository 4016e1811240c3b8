#!/usr/bin/env bash
# report.sh TITLE: writes report.md, one report of all plans in plans/, for a comment on the change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# GitHub takes 65,536 characters, with the mark that the comment begins with.
npx --no-install pulumi-consortium report --title "${1:-Preview}" --max 65000 plans/*.json >report.md
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat report.md >>"$GITHUB_STEP_SUMMARY"
fi
