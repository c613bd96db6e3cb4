#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: exports.sh LIBRARY HEADER...
# The library exports the functions that the headers declare, and nothing else; its SONAME is the
# one that programs are linked with.
set -eu
export LC_ALL=C
library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | sort -u > "$work/exported"
# Declarations: lines continued with a backslash are joined, those of the preprocessor and the
# comments dropped; then each name in front of a parenthesis.
cat "$@" | sed -e ':join' -e '/\\$/{' -e 'N' -e 's/\\\n//' -e 'b join' -e '}' -e '/^#/d' |
  tr '\n' ' ' | sed -e 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' |
  grep -oE '\b(mluOp|cnrt|detops)[A-Za-z0-9_]+ *\(' | tr -d ' (' | sort -u > "$work/declared"

failed=0
complain() {
  [ -s "$2" ] || return 0
  echo "$1:"
  sed 's/^/  /' "$2"
  failed=1
}
grep -vE '^(mluOp|cnrt|detops)[A-Za-z0-9_]+$' "$work/exported" > "$work/foreign" || true
comm -13 "$work/exported" "$work/declared" > "$work/missing"
comm -23 "$work/exported" "$work/declared" > "$work/undeclared"
complain 'exported, but no name of the API' "$work/foreign"
complain 'declared, but not exported' "$work/missing"
complain 'exported, but not declared' "$work/undeclared"

# Each header must have told something, or the comparison above means nothing.
for prefix in mluOp cnrt detops; do
  grep -q "^$prefix" "$work/declared" || { echo "no declaration of $prefix... found"; failed=1; }
done

soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libdetops.so.0 ] || { echo "SONAME is '$soname', expected libdetops.so.0"; failed=1; }

[ $failed -eq 0 ] && echo "$(wc -l < "$work/exported") functions, as declared; SONAME $soname"
exit $failed
