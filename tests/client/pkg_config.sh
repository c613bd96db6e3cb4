#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: pkg_config.sh PREFIX LIBDIR COMPILER SOURCE WORK
# Builds and runs the client with nothing but what pkg-config says of the library in PREFIX.
set -eu
prefix=$1 libdir=$2 compiler=$3 source=$4 work=$5
rm -rf "$work"
mkdir -p "$work"
# LIBDIR, not PATH: a detops installed elsewhere must not answer.
PKG_CONFIG_LIBDIR=$prefix/$libdir/pkgconfig
export PKG_CONFIG_LIBDIR
flags=$(pkg-config --cflags --libs detops)
echo "pkg-config: $flags, version $(pkg-config --modversion detops)"
# The flags are words, and none of them has spaces.
# shellcheck disable=SC2086
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror "$source" -o "$work/client" $flags
LD_LIBRARY_PATH=$prefix/$libdir "$work/client"
