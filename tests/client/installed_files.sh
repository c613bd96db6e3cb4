#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: installed_files.sh PREFIX LIBDIR SOURCE LIBRARY [PLUGIN...]
# The files and links of an installed copy, and no others. LIBRARY is the file with the whole version;
# the program is there if it was built. Plug-ins, and what they need, lie beside the library.
set -eu
export LC_ALL=C
prefix=$1 libdir=$2 source=$3 library=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$prefix" && find . -type f -o -type l) | sed 's,^\./,,' | sort > "$work/there"
{
  cat <<LIST
include/cn_api.h
include/cnrt.h
include/detops/detops.h
include/detops/detops.hpp
include/mlu_op.h
$libdir/$library
$libdir/libdetops.so
$libdir/libdetops.so.0
$libdir/cmake/detops/detops-config.cmake
$libdir/cmake/detops/detops-config-version.cmake
$libdir/pkgconfig/detops.pc
LIST
  for plugin; do echo "$libdir/$plugin"; done
  # CMake names one of its files after the kind of build.
  grep "^$libdir/cmake/detops/detops-config-[a-z]*\.cmake$" "$work/there"
  grep "^bin/detops$" "$work/there" || true
  (cd "$source" && find cases -type f ! -name '.*') | sed 's,^,share/detops/,'
} | sort -u > "$work/expected"
# Without the program there are no cases either.
grep -q "^share/" "$work/there" || sed -i '/^share\//d' "$work/expected"
diff "$work/expected" "$work/there"
echo "$(wc -l < "$work/there") files, as expected"
