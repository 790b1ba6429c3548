// Unpacks the Chromium of the package below this folder: `node unpack.mjs FOLDER`.
//
// The package carries the browser and its libraries as compressed archives, and would unpack them into /tmp.
import { spawnSync } from 'node:child_process';
import { chmodSync, createReadStream, createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';

const folder = process.argv[2];
const packed = join(folder, 'node_modules/@sparticuz/chromium/bin');
const target = join(folder, 'chromium');
mkdirSync(target, { recursive: true });

async function decompress(name, path) {
  await pipeline(createReadStream(join(packed, name)), createBrotliDecompress(), createWriteStream(path));
}

await decompress('chromium.br', join(target, 'chromium'));
chmodSync(join(target, 'chromium'), 0o755);
for (const archive of ['al2023', 'fonts', 'swiftshader']) {
  const path = join(target, `${archive}.tar`);
  await decompress(`${archive}.tar.br`, path);
  const done = spawnSync('tar', ['-xf', path, '-C', target, '--no-same-owner'], { stdio: 'inherit' });
  if (done.status !== 0) process.exit(1);
  rmSync(path);
}
// The package's own file names folders that exist only where it usually runs.
writeFileSync(join(target, 'fonts.conf'), `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>${join(target, 'fonts')}</dir>
  <cachedir>${join(target, 'font-cache')}</cachedir>
</fontconfig>
`);
