#!/usr/bin/env bash
# comment-gitlab.sh STACK…: puts report.md on the merge request of this pipeline, in place of what it wrote there before.
# It knows that by a mark of its own, and touches nothing else.
# GITLAB_COMMENT_TOKEN: a project access token with the scope api. The other variables are GitLab's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
project="$(sed -n 's/^name: *//p' Pulumi.yaml)"
stacks=("${@/#/$project/}")
mark="<!-- consortium comment: ${stacks[*]} -->"
# The token goes to curl through a file, so that no list of processes shows it.
api() {
  curl --silent --show-error --fail --config <(printf 'header = "PRIVATE-TOKEN: %s"\n' "$GITLAB_COMMENT_TOKEN") "$@"
}
# The id of our note, or nothing. What GitLab itself notes of a merge request is in the list, too: there may be many pages.
earlier() {
  local page=1 found
  while [ -n "$page" ]; do
    found="$(api --dump-header "$headers" "$notes?per_page=100&order_by=created_at&page=$page" | node -e '
      const notes = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
      console.log(notes.find(({ body }) => body.startsWith(process.argv[1]))?.id ?? "");' "$mark")"
    if [ -n "$found" ]; then
      echo "$found"
      return
    fi
    page="$(tr -d '\r' <"$headers" | sed -n 's/^x-next-page: *//Ip')"
  done
}

body="$(mktemp)"
headers="$(mktemp)"
trap 'rm -f "$body" "$headers"' EXIT
id="$(earlier)"
printf '%s\n\n' "$mark" | cat - report.md >"$body"
if [ -n "$id" ]; then
  api --request PUT "$notes/$id" --data-urlencode "body@$body" >/dev/null
else
  api --request POST "$notes" --data-urlencode "body@$body" >/dev/null
fi
