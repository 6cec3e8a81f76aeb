#!/bin/bash
# Draws the charts of the article on restarts, with the command that the article names: cuts those for wide
# screens out of the reports' pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
demo=${FSM_DEMO:-.build/release/fsm-demo}
target=Sources/NetSim/NetSim.docc/Resources
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$target"

# NAME WHICH… OPTIONS…: the charts of a run, counted from 0, as NAME-0.svg and so on.
draw() {
  local name=$1 which=$2
  shift 2
  "$demo" fleet "$@" --html "$folder/$name.html" > /dev/null
  python3 - "$folder/$name.html" "$target/$name" $which << 'PYTHON'
import re, sys
page, target, *which = sys.argv[1:]
text = open(page, encoding="utf-8").read()
style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
charts = re.findall(r'<div class="wide"><svg(.*?)</svg></div>', text, re.S)
for place in which:
    with open(f"{target}-{place}.svg", "w", encoding="utf-8") as file:
        chart = charts[int(place)]
        # As an image it has a size of its own.
        width, height = re.search(r'viewBox="0 0 (\d+) (\d+)"', chart).groups()
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"{chart}'
                   f'<style>{style}</style></svg>\n')
PYTHON
}

five=(--policy default --policy socketIO --policy grpc --policy phoenix --policy xt)
# 0 is who is connected again, then the dials policy by policy, then the line.
draw restart "0 1 6" "${five[@]}"
draw small-backlog "0" --server backlog=128 "${five[@]}"
draw impatient "0" --connect-deadline 5s "${five[@]}"
echo "fleet-charts: written to $target"
