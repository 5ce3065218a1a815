#!/usr/bin/env bash
# Judges the adapter that $ADAPTER starts, and adds the report to the summary of the job. The exit code is that of `guardc ack run`:
# 0 it conforms, 1 it does not, 2 it could not be judged.
set -uo pipefail

read -ra adapter <<<"${ADAPTER:-}"
[ "${#adapter[@]}" -gt 0 ] || { echo "::error::no command is given"; exit 2; }
options=()
[ -z "${TIER:-}" ] || options+=(--tier "$TIER")
[ -z "${KNOWN_FAILING:-}" ] || options+=(--known-failing "$KNOWN_FAILING")

report=$(mktemp)
trap 'rm -f "$report"' EXIT
"${GUARDC:-guardc}" ack run --format json --output "$report" "${options[@]}" -- "${adapter[@]}"
code=$?
if [ -s "$report" ]; then
  "${GUARDC:-guardc}" ack report --format markdown "$report" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
case "$code" in
  0) ;;
  1) echo "::error::the adapter does not conform" ;;
  *) echo "::error::the adapter could not be judged" ;;
esac
exit "$code"
