#!/usr/bin/env bash
# comment-gitlab.sh: puts report.md on the merge request of this pipeline, in place of the report of an earlier one.
# GITLAB_COMMENT_TOKEN: a project access token with the scope api. The other variables are GitLab's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
mark="<!-- consortium report -->"
# The token goes to curl through a file, so that no list of processes shows it.
api() {
  curl --silent --show-error --fail --config <(printf 'header = "PRIVATE-TOKEN: %s"\n' "$GITLAB_COMMENT_TOKEN") "$@"
}
earlier() {
  api "$notes?per_page=100&order_by=created_at" | node -e '
    const notes = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    console.log(notes.find(({ body }) => body.startsWith(process.argv[1]))?.id ?? "");' "$mark"
}

id="$(earlier)"
body="$(mktemp)"
trap 'rm -f "$body"' EXIT
printf '%s\n\n' "$mark" | cat - report.md >"$body"
if [ -n "$id" ]; then
  api --request PUT "$notes/$id" --data-urlencode "body@$body" >/dev/null
else
  api --request POST "$notes" --data-urlencode "body@$body" >/dev/null
fi
