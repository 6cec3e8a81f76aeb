#!/bin/bash
# Builds the documentation archives of the libraries with the toolchain's own docc; a warning is an
# error. Usage: docs.sh [FOLDER], where the archives go (default: .build/docs).
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../.build/docs}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "docs: symbol graphs of the public interface"
graphs=$(swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members \
  | sed -n 's/^Files written to //p')

for module in ConnectionFSM NetSim Transports; do
  echo "docs: $out/$module.doccarchive"
  # Each module in a folder of its own: docc reads every graph that it finds.
  own=$out/graphs/$module
  rm -rf "$own" "$out/$module.doccarchive"
  mkdir -p "$own"
  find "$graphs" \( -name "$module.symbols.json" -o -name "$module@*.symbols.json" \) \
    -exec cp -t "$own" {} +
  docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$own" \
    --fallback-display-name "$module" --fallback-bundle-identifier "connection-fsm.$module" \
    --output-path "$out/$module.doccarchive" --warnings-as-errors
done
