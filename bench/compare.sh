#!/bin/sh
# Every strategy on every profile, and on the traces given, each in the smallest region that it needs: a folder of results
# and one page. Some ten minutes on an idle machine; needs no GPU.
#
#   bench/compare.sh FOLDER [TRACE...]
#
# OUTBOARD: what to run in place of ./outboard, such as the bundle's run.sh where there is no JDK.
set -eu
[ $# -ge 1 ] || { echo "usage: bench/compare.sh FOLDER [TRACE...]" >&2; exit 2; }
folder=$1
shift
outboard=${OUTBOARD:-$(dirname "$0")/../outboard}
mkdir -p "$folder"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

for profile in mimalloc paper large mid small pingpong; do
    "$outboard" malloc-large --profile "$profile" --strategy all --region smallest --device none --out "$parts/$profile"
done
for trace in "$@"; do
    "$outboard" replay "$trace" --strategy all --region smallest --device none --out "$parts/$(basename "$trace")"
done
cat "$parts"/*/results.jsonl >"$folder/results.jsonl"
# What the parts have in common; the command was this one.
sed "s|\"command\":\"[^\"]*\"|\"command\":\"bench/compare.sh FOLDER [TRACE...]\"|" "$parts/large/environment.json" \
    >"$folder/environment.json"
"$outboard" report "$folder"
