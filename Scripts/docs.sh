#!/bin/bash
# Builds the documentation of the libraries as one static site, with the toolchain's own docc; a
# warning is an error. Usage: docs.sh [FOLDER [BASE]]: the site is FOLDER/site (default: .build/docs),
# for any web server that serves it at the path BASE (default: its root):
#   python3 -m http.server --directory .build/docs/site, then http://localhost:8000/documentation/
set -euo pipefail
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../.build/docs}")
base=${2:-/}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "docs: symbol graphs of the public interface"
graphs=$(swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members \
  | sed -n 's/^Files written to //p')

archives=()
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
    --hosting-base-path "$base" --output-path "$out/$module.doccarchive" --warnings-as-errors
  archives+=("$out/$module.doccarchive")
done

echo "docs: $out/site"
rm -rf "$out/site"
docc merge "${archives[@]}" --synthesized-landing-page-name connection-fsm \
  --output-path "$out/site"
