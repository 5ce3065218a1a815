#!/usr/bin/env bash
# Compares $GUARD with the same file at the git revision $BASE. The exit code is that of `guardc diff`: 0 same or tighter,
# 1 looser, 2 nothing could be compared, 3 not decided. With UNDECIDED=warn, 3 becomes a warning and 0.
set -uo pipefail

fail() {
  echo "::error::$1"
  exit 2
}

[ -n "${GUARD:-}" ] || fail "no guard is given"
[ -n "${BASE:-}" ] || fail "no base revision is given"
case "${ALLOW:=tighten}" in tighten | none | any) ;; *) fail "\`allow\` is tighten, none or any" ;; esac
case "${UNDECIDED:=fail}" in fail | warn) ;; *) fail "\`undecided\` is fail or warn" ;; esac

# A whole worktree, since the old guard may use other files of its time.
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" >/dev/null 2>&1; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$BASE" || fail "there is no revision $BASE here"
# A guard that is new, or under another name, has nothing to be compared with: a person decides.
[ -f "$work/base/$GUARD" ] || fail "$GUARD is not in $BASE: nothing to compare with"

guardc diff --allow "$ALLOW" --format markdown -- "$work/base/$GUARD" "$GUARD" |
  tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
code=${PIPESTATUS[0]}
case "$code" in
  1) echo "::error file=$GUARD::the guard allows what $BASE refuses" ;;
  3)
    if [ "$UNDECIDED" = warn ]; then
      echo "::warning file=$GUARD::it is not decided whether the guard allows more than $BASE"
      exit 0
    fi
    echo "::error file=$GUARD::it is not decided whether the guard allows more than $BASE"
    ;;
esac
exit "$code"
