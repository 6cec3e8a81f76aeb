"""Reads the index.json of an Autobahn report: a table by section, then every case that is neither OK
nor informational. Fails where one has failed or is non-strict, and where not every case was run.

    autobahn-report.py INDEX.JSON CASES
"""

import json
import sys
from collections import Counter

SECTIONS = {
    1: "framing",
    2: "pings and pongs",
    3: "reserved bits",
    4: "opcodes",
    5: "fragmentation",
    6: "UTF-8",
    7: "close",
    9: "limits and speed",
    10: "fragmenting",
    12: "compression",
    13: "compression, parameters",
}
COLUMNS = ["OK", "NON-STRICT", "INFORMATIONAL", "FAILED"]


def section(case):
    return int(case.split(".")[0])


def column(result):
    """What is neither of the first three is a failure, whatever the suite calls it."""
    behavior = result["behavior"]
    return behavior if behavior in COLUMNS else "FAILED"


def print_table(cases):
    counts = Counter((section(case), column(result)) for case, result in cases.items())
    print(f"{'section':<32}" + "".join(f"{name:>15}" for name in COLUMNS))
    for number in sorted({section(case) for case in cases}):
        name = f"{number}: {SECTIONS.get(number, '')}"
        print(f"{name:<32}" + "".join(f"{counts[number, name]:>15}" for name in COLUMNS))
    totals = Counter(column(result) for result in cases.values())
    print(f"{'all':<32}" + "".join(f"{totals[name]:>15}" for name in COLUMNS))
    return totals


def main():
    path, wanted = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        agents = json.load(file)
    [(agent, cases)] = agents.items()
    print(f"autobahn: {agent}")
    totals = print_table(cases)
    for case in sorted(cases, key=lambda case: [int(part) for part in case.split(".")]):
        result = cases[case]
        if column(result) not in ("OK", "INFORMATIONAL"):
            print(
                f"{case}: {result['behavior']}, close {result['behaviorClose']}, "
                f"code {result.get('remoteCloseCode')}, report {result.get('reportfile')}"
            )
    if len(cases) != wanted:
        sys.exit(f"autobahn: {len(cases)} cases have a result, of {wanted}")
    if totals["NON-STRICT"] or totals["FAILED"]:
        sys.exit(1)


main()
