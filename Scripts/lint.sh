#!/bin/bash
# Checks the formatting of all Swift in the repository against .swift-format.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "lint: swift format lint --strict on Sources, Tests, Benchmarks, Conformance, Examples, Fuzzing and Package.swift"
swift format lint --strict --recursive --parallel Sources Tests Benchmarks Conformance Examples Fuzzing \
  Package.swift
