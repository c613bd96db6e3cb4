#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: test.sh PROGRAM LIBRARY SONAME PROBE
# The library is found by a relative path. The program then goes to a folder in which that path
# leads to another plug-in, which must not be loaded.
set -eu
program=$1 library=$2 soname=$3 probe=$4
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lib" "$work/elsewhere/lib"
cp "$library" "$work/lib/$soname"
cp "$probe" "$work/lib/libdetops_cuda.so"
cp "$probe" "$work/elsewhere/lib/libdetops_cuda.so"
cp "$probe" "$work/elsewhere/libdetops_cuda.so"
cd "$work"
said=$(LD_LIBRARY_PATH=lib "$program" elsewhere)
echo "$said"
[ "$said" = "loaded $work/lib/libdetops_cuda.so" ]
