// The licences require that their texts are distributed with the code.

import { readFileSync, readdirSync } from 'node:fs';

/** Returns the licences of all packages in a bundle as one text. */
export function readLicences(metafile) {
  const packages = new Set(Object.keys(metafile.inputs).map((path) => path.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
  return [...packages].sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(path + '/package.json', 'utf8'));
    const texts = readdirSync(path).filter((file) => /^licen[cs]e/i.test(file)).map((file) => readFileSync(`${path}/${file}`, 'utf8'));
    return [`${name} ${version} (${license})`, ...texts].join('\n\n');
  }).join(`\n\n${'-'.repeat(80)}\n\n`);
}
