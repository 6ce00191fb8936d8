// The licenses require that their texts are distributed with the code. The list of contents of a release names the packages.

import { readFileSync, readdirSync } from 'node:fs';

/** Returns the packages in a bundle, each with its folder and the texts of its license. */
export function readPackages(metafile) {
  const folders = new Set(Object.keys(metafile.inputs).map((path) => path.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
  return [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(folder + '/package.json', 'utf8'));
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file)).map((file) => readFileSync(`${folder}/${file}`, 'utf8'));
    return { name, version, license, folder, texts };
  });
}

/** Returns the files of a bundle that tell about its packages. */
export function describePackages(packages) {
  const text = packages.map(({ name, version, license, texts }) => [`${name} ${version} (${license})`, ...texts].join('\n\n')).join(`\n\n${'-'.repeat(80)}\n\n`);
  const list = packages.map(({ name, version, license, folder }) => ({ name, version, license, folder }));
  return [['licenses.txt', text], ['packages.json', JSON.stringify(list)]];
}
