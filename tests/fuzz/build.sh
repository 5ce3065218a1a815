#!/usr/bin/env bash
# Builds the fuzz targets with the stable toolchain: the flags are those of cargo-fuzz, without sanitizer.
# Run one with `target/release/parse corpus/parse ../../specs -max_total_time=600`.
set -euo pipefail
cd "$(dirname "$0")"
flags="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
  flags="$flags -Cllvm-args=-sanitizer-coverage-$option"
done
RUSTFLAGS="$flags -Cdebug-assertions=on" cargo build --release --target "$(rustc -vV | sed -n 's/^host: //p')" "$@"
