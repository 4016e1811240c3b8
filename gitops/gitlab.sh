#!/usr/bin/env bash
# gitlab.sh save STACK: keeps plans/STACK.json and .plan for apply.sh, in the package registry, under the content of the commit.
# gitlab.sh plan STACK: fetches into approved/ what was kept for the content of this commit, if anything was.
# gitlab.sh comment STACK…: puts report.md on the merge request of this pipeline, in place of what it wrote there before.
# It knows that by a mark of its own, and touches nothing else.
# GITLAB_COMMENT_TOKEN: for comment, a project access token with the scope api. The other variables are GitLab's own.
set -euo pipefail

project="$CI_API_V4_URL/projects/$CI_PROJECT_ID"
# A token goes to curl through a file, so that no list of processes shows it.
api() {
  curl --silent --show-error --fail --config <(printf 'header = "%s"\n' "$credential") "$@"
}
# The same files at every commit that leads to it: that of the merge request, and of main after the merge.
kept() { echo "$project/packages/generic/plan-$1/$(git rev-parse HEAD:./)"; }

save() {
  for file in "$1.json" "$1.plan"; do
    api --upload-file "plans/$file" "$(kept "$1")/$file" >/dev/null
  done
}

plan() {
  rm -rf approved
  mkdir approved
  for file in "$1.json" "$1.plan"; do
    local status
    status="$(curl --silent --show-error --location --config <(printf 'header = "%s"\n' "$credential") \
      --output "approved/$file" --write-out '%{http_code}' "$(kept "$1")/$file")"
    if [ "$status" = 404 ]; then
      rm -rf approved
      echo "gitlab.sh: no merge request has planned this content of the repository for $1." >&2
      return
    elif [ "$status" != 200 ]; then
      echo "gitlab.sh: the plan of $1 could not be fetched: HTTP $status." >&2
      rm -rf approved
      exit 1
    fi
  done
}

# The id of our note, or nothing. The list also contains GitLab's own notes on a merge request: there may be many pages.
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

comment() {
  notes="$project/merge_requests/$CI_MERGE_REQUEST_IID/notes"
  local name body id stacks
  name="$(sed -n 's/^name: *//p' Pulumi.yaml)"
  stacks=("${@/#/$name/}")
  mark="<!-- consortium comment: ${stacks[*]} -->"
  body="$(mktemp)"
  headers="$(mktemp)"
  trap "rm -f '$body' '$headers'" EXIT
  id="$(earlier)"
  printf '%s\n\n' "$mark" | cat - report.md >"$body"
  if [ -n "$id" ]; then
    api --request PUT "$notes/$id" --data-urlencode "body@$body" >/dev/null
  else
    api --request POST "$notes" --data-urlencode "body@$body" >/dev/null
  fi
}

case "${1:-}" in
  save | plan) credential="JOB-TOKEN: $CI_JOB_TOKEN" ;;
  comment) credential="PRIVATE-TOKEN: $GITLAB_COMMENT_TOKEN" ;;
  *) echo "say what to do: gitlab.sh save STACK, gitlab.sh plan STACK, or gitlab.sh comment STACK…" >&2 && exit 1 ;;
esac
"$@"
