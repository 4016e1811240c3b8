#!/usr/bin/env bash
# report.sh TITLE [FLAG…]: writes report.md, one report of all plans in plans/, for a comment on the change.
# FLAGs are those of `consortium report`; with --fail-on, the exit code is 2 if that applies.
# MAPS: where maps/ will be found; the maps of the plans are also written.
set -euo pipefail
consortium() { npx --no-install pulumi-consortium "$@"; }

title="${1:-Preview}"
if [ -n "${MAPS:-}" ]; then
  mkdir -p maps
  for plan in plans/*.json; do
    name="$(basename "$plan" .json)"
    consortium map --plan "$plan" --output "maps/$name.svg" || echo "report.sh: there is no map of $name." >&2
  done
fi
code=0
# GitHub takes 65,536 characters, with the mark that the comment begins with.
consortium report plans/*.json --title "$title" --max 65000 ${MAPS:+--map "$MAPS"} "${@:2}" >report.md || code=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat report.md >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
