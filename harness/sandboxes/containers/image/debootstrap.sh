#!/bin/sh
# Makes a root filesystem of Debian, for hosts that reach a Debian mirror but no image registry. As root:
#   debootstrap.sh ROOTFS.tar [SUITE [MIRROR]]
#   mlesmith sandbox build --rootfs ROOTFS.tar --tag mlesmith/base:debian
#   mlesmith sandbox build --cpu --base mlesmith/base:debian
set -eu
tar=$1 suite=${2:-bookworm} mirror=${3:-}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=ca-certificates,libgomp1,python3,python3-venv "$suite" "$root" \
  ${mirror:+"$mirror"}
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*
tar --numeric-owner -C "$root" -cf "$tar" .
