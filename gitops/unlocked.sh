#!/usr/bin/env bash
# unlocked.sh COMMAND…: runs COMMAND, and runs it again while another run holds the lock of the stack.
# LOCK_WAIT_SECONDS: the longest wait for the lock (default: 1800).
set -euo pipefail

said="$(mktemp)"
trap 'rm -f "$said"' EXIT
while true; do
  code=0
  "$@" 2>"$said" || code=$?
  if [ "$code" -eq 0 ] || ! grep -Eq "is currently locked|update is currently in progress" "$said" ||
    [ "$SECONDS" -ge "${LOCK_WAIT_SECONDS:-1800}" ]; then
    break
  fi
  echo "unlocked.sh: waiting for another run that holds the lock of the stack." >&2
  sleep 5
done
cat "$said" >&2
exit "$code"
