#!/usr/bin/env bash
# This script builds GraphiQL, the console and the reference into dist/. It needs Node 22 or newer, and npm; scripts/node
# replaces an older one. If it cannot build them, it says why
# and succeeds, because the server also has small built-in pages.
set -uo pipefail
cd "$(dirname "$0")"

skip() {
	local instead="the program serves its small pages instead"
	[ -e dist/main.js.gz ] && instead="those built before stay"
	echo "pages: GraphiQL and the console are not built, $instead: $*" >&2
	exit 0
}

command -v npm >/dev/null || skip "there is no npm in PATH"
node=$(../../scripts/node) || skip "there is no supported node"
PATH=$node:$PATH

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# npm writes this file last. The waits are short, because without a network every build tries the installation again.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	echo "pages: getting GraphiQL and the packages of the console from npm, once, which takes a minute"
	npm ci --ignore-scripts --include=dev --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000 \
		--fetch-timeout=60000 >"$log" 2>&1 || { tail -n 5 "$log" >&2; skip "npm ci failed"; }
	touch node_modules/.package-lock.json
fi
node reference/build.mjs || skip "reference/build.mjs failed"
node build.mjs || skip "build.mjs failed"
node console/generate.mjs && node console/build.mjs || skip "the console failed"
