#!/usr/bin/env bash
# report.sh TITLE [FLAG…]: writes report.md, one report of all plans in plans/, for a comment on the change.
# FLAGs are passed to `consortium report`; with --fail-on, the exit code is 2 if a condition applies.
# STACKS: all stacks, separated by spaces. The report names those without a plan, and the exit code is 2.
# MAPS: where maps/ will be found; the maps of the plans are also written.
set -euo pipefail
consortium() { npx --no-install consortium "$@"; }

title="${1:-Preview}"
plans=()
for plan in plans/*.json; do
  [ ! -s "$plan" ] || plans+=("$plan")
done
rm -f report.md # from an earlier run
code=0
for stack in ${STACKS:-}; do
  if [ ! -s "plans/${stack//\//.}.json" ]; then
    code=2
    printf '> **No preview exists for this commit: `%s`.** Its job failed before it had a plan: see its log.\n\n' "$stack"
  fi
done >report.new
if [ "${#plans[@]}" -eq 0 ] && [ "$code" -eq 0 ]; then
  rm report.new
  echo "report.sh: there is no plan in plans/." >&2
  exit 1
fi
if [ -n "${MAPS:-}" ]; then
  mkdir -p maps
  for plan in ${plans:+"${plans[@]}"}; do
    name="$(basename "$plan" .json)"
    consortium map --plan "$plan" --output "maps/$name.svg" || echo "report.sh: there is no map of $name." >&2
  done
fi
if [ "${#plans[@]}" -gt 0 ]; then
  # GitHub accepts 65,536 characters, including the mark at the beginning.
  said=0
  consortium report "${plans[@]}" --title "$title" --max 65000 ${MAPS:+--map "$MAPS"} "${@:2}" >>report.new || said=$?
  [ "$said" -eq 0 ] || code="$said"
fi
if [ "$code" -ne 0 ] && [ "$code" -ne 2 ]; then
  rm report.new
  exit "$code"
fi
mv report.new report.md
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat report.md >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
