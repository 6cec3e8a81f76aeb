#!/bin/bash
# Puts the state diagram into README.md, as the machine shows it when it is driven through every
# state with every input. A test tells when the one there is old.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift build --product fsm-demo
diagram=$(mktemp)
trap 'rm -f "$diagram"' EXIT
"$(swift build --show-bin-path)/fsm-demo" table --format mermaid > "$diagram"
sed -i -e "/^<!-- states begin/,/^<!-- states end/{
  /^\`\`\`mermaid\$/r $diagram
  /^\`\`\`/b
  /^<!--/b
  d
}" README.md
echo "diagram: $(wc -l < "$diagram") lines in README.md"
