// Loads what is pinned in `package.json` from where `cargo xtask fleet` installs it.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const installed = createRequire(new URL('../.tools/fleet/npm/package.json', import.meta.url));

/** The module of that name. */
export const load = (name) => import(pathToFileURL(installed.resolve(name)));
