#!/bin/sh
# Runs each fuzz target for a number of inputs and prints what came of it.
#
# usage: fuzz.sh TOOL RUNS [TARGET...]
#   TOOL    the built cloudsync-fuzz; RUNS  inputs a target
# JOBS=n    so many targets at a time (2)
# PLANTED=1 puts the bug of each target in: each must be found
# OUTPUT=d  keeps logs, grown corpora and inputs that break something there (.build/fuzz-output)
#
# Ends with 1 when a rule was broken, or a planted bug was not found.
set -u
tool=$1; runs=$2; shift 2
here=$(cd "$(dirname "$0")" && pwd)
output=${OUTPUT:-.build/fuzz-output}
mkdir -p "$output"
output=$(cd "$output" && pwd)
export tool runs here output PLANTED="${PLANTED:-0}"

if [ $# -gt 0 ]; then targets="$*"; else targets=$(cd "$here" && ls -d */ | tr -d /); fi

one='
  t=$1; start=$(date +%s)
  rm -rf "$output/$t.found"; mkdir -p "$output/$t" "$output/$t.found"
  grown=$output/$t; [ "$PLANTED" = 1 ] && grown=$(mktemp -d)
  dict=; [ -f "$here/$t.dict" ] && dict=-dict=$here/$t.dict
  CLOUDSYNC_FUZZ_TARGET=$t CLOUDSYNC_FUZZ_PLANTED=$PLANTED SWIFT_BACKTRACE=enable=no \
    nice -n 10 "$tool" -runs="$runs" -max_len=600 -timeout=20 -rss_limit_mb=3072 \
    -detect_leaks=0 -use_value_profile=0 -print_final_stats=1 $dict \
    -artifact_prefix="$output/$t.found/" "$grown" "$here/$t" >"$output/$t.log" 2>&1
  code=$?
  count=$(sed -n "s/^stat::number_of_executed_units: *//p" "$output/$t.log")
  coverage=$(sed -n "s/.* cov: \([0-9]*\) ft: \([0-9]*\).*/\1 edges \2 features/p" \
    "$output/$t.log" | tail -1)
  seconds=$(($(date +%s) - start)); [ "$seconds" = 0 ] && seconds=1
  crashes=$(ls "$output/$t.found" | wc -l | tr -d " ")
  verdict="$crashes crashes"
  if [ "$PLANTED" = 1 ]; then
    [ "$grown" = "$output/$t" ] || rm -rf "$grown"
    if grep -q "broken rule: planted" "$output/$t.log"; then verdict="planted bug found"; code=0
    else verdict="PLANTED BUG NOT FOUND"; code=1; fi
  fi
  printf "%-12s %10s inputs  %5s s  %6s/s  %-26s %s\n" "$t" "${count:-0}" "$seconds" \
    "$((${count:-0} / seconds))" "${coverage:-no coverage}" "$verdict"
  if [ $code -ne 0 ] && [ "$PLANTED" != 1 ]; then
    grep -E "broken rule|Fatal error|ERROR: |SUMMARY" "$output/$t.log" | head -3 | sed "s/^/  /"
    echo "  input: $output/$t.found"; fi
  [ $code -eq 0 ]
'
printf '%s\n' $targets | xargs -P "${JOBS:-2}" -n 1 sh -c "$one" one
status=$?
[ $status -eq 0 ] || exit 1
