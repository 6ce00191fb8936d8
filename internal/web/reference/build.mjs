// This program copies Swagger UI, which its authors have bundled, into dist/reference, and compresses the files with gzip, as the
// server embeds them. build.sh runs this program.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describePackages } from '../licenses.mjs';

const from = 'node_modules/swagger-ui-dist', to = 'dist/reference';
const read = (name) => readFileSync(`${from}/${name}`, 'utf8');
const { name, version, license } = JSON.parse(read('package.json'));
// The last of these texts is about the packages in the bundle.
const texts = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'].map(read);
const withoutMap = (text) => text.replace(/\n\/[/*]# sourceMappingURL=.*$/s, '\n'); // The program does not contain the maps.

rmSync(to, { recursive: true, force: true });
mkdirSync(to);
// The server takes the script as the sign that all other files are there, so it is written last.
const files = [...describePackages([{ name, version, license, folder: from, texts }]), ['swagger-ui.css', withoutMap(read('swagger-ui.css'))], ['swagger-ui-bundle.js', withoutMap(read('swagger-ui-bundle.js'))]];
let total = 0;
for (const [name, contents] of files) {
  const packed = gzipSync(contents, { level: 9 });
  writeFileSync(`${to}/${name}.gz`, packed);
  total += packed.length;
}
console.log(`reference: Swagger UI ${version}, ${Math.round(total / 1000)} KB`);
