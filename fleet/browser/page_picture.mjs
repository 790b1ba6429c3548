// Takes the pictures of the web page for the documentation: `node page_picture.mjs` with the task as JSON on standard input.
//
// The server `weather` of the task has failed; its error is shown at 1280 and at 400 pixels.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const task = JSON.parse(readFileSync(0, 'utf8'));
const { chromium } = createRequire(join(task.browser, 'package.json'))('playwright-core');
const folder = join(task.browser, 'chromium');
const browser = await chromium.launch({
  executablePath: join(folder, 'chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') },
});
const page = await browser.newPage({ viewport: { width: 1280, height: 520 } });
page.setDefaultTimeout(30_000);
await page.goto(task.address);
const server = (name) => page.locator(`#servers button[data-server="${name}"]`);
await server('everything').locator('.dot.connected').waitFor();
for (const [width, height] of [[1280, 520], [400, 720]]) {
  await page.setViewportSize({ width, height });
  if (width === 400) await page.reload();
  await server('weather').locator('.dot.failed').waitFor();
  await server('weather').click();
  await page.locator('#server .alert').waitFor();
  await page.locator('#tab-logs').click();
  await page.locator('#log div').first().waitFor();
  // As on the other pages of the documentation, the home is that of a user `me`.
  await page.evaluate((home) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(home, '/home/me');
  }, task.home);
  await page.screenshot({ path: join(task.pictures, `page-${width}.png`) });
}
console.log(JSON.stringify({ error: await page.locator('#server .alert').innerText() }));
await browser.close();
