#!/bin/sh
# A smoke test of a model with pterun: is the program complete here, do options arrive, do the outputs agree, is it fast
# enough. Each step ends the script with pterun's exit code (docs/exit-codes.md) when it fails.
# usage: smoke.sh CONFIG.json [OUT]     PTERUN=path of the program (default: pterun), GATE=performance gate (default: none)
set -eu
config=$1
out=${2:-smoke-reports}
pterun=${PTERUN:-pterun}
mkdir -p "$out"

step() { printf '== %s\n' "$*"; }

step "this build"
"$pterun" --version

step "the checks of options catch what is wrong"
"$pterun" options check --self-test --json "$out/self-test.json" --quiet

step "the config, with the origin of every value"
"$pterun" run --config "$config" --print-config | tee "$out/config.json"

step "outputs agree with the reference, and every option arrived"
"$pterun" run --config "$config" --timeout 300 --json "$out/run.json"

if [ -n "${GATE:-}" ]; then
  step "performance: fails when $GATE"
  "$pterun" bench --config "$config" --timeout 300 --fail-if "$GATE" --json "$out/bench.json"
fi
step "passed; reports are in $out"
