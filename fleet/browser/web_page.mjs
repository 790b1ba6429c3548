// Uses the web page in a real Chromium, as a person would: `node web_page.mjs` with the task as JSON on standard input.
//
// Prints the measured figures as one line of JSON, and leaves pictures in the folder of the task.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
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
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
await context.grantPermissions(['clipboard-read', 'clipboard-write']);
const page = await context.newPage();
page.setDefaultTimeout(30_000);
const troubles = [];
const foreign = [];
for (const event of ['pageerror', 'console']) {
  page.on(event, (what) => { if (event === 'pageerror' || what.type() === 'error') troubles.push(String(what.text?.() ?? what)); });
}
page.on('request', (request) => { if (!request.url().startsWith(new URL(task.address).origin) && !request.url().startsWith('data:')) foreign.push(request.url()); });

const shot = (name) => page.screenshot({ path: join(task.pictures, `${name}.png`) });
const server = (name) => page.locator(`#servers button[data-server="${name}"]`);
const tab = (name) => page.locator(`#tab-${name}`);
const tool = (name) => page.locator('.tool', { has: page.locator('.signature b', { hasText: new RegExp(`^${name}$`) }) });

/** Opens a tool of the server `everything`, and returns its body with the form. */
async function openTool(name) {
  await tab('tools').click();
  await page.locator('#search').fill(name);
  const node = tool(name).first();
  if (await node.locator('button').first().getAttribute('aria-expanded') === 'false') await node.locator('h3 button').click();
  const body = node.locator('.body');
  await body.locator('form').waitFor();
  return body;
}

async function assertNoOverflow(width) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `the page is ${wide} pixels wide at ${width}`);
}

// The first view, with the token in the fragment.
await page.goto(task.address);
const firstView = await page.waitForFunction(() => document.querySelector('#servers button') && performance.now());
const figures = {
  firstViewMilliseconds: Math.round(await firstView.jsonValue()),
  paintMilliseconds: await page.evaluate(() => Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1)),
};
assert.equal(new URL(page.url()).hash, '', 'the token is removed from the address');
assert.equal(await page.evaluate(() => document.cookie), '', 'scripts cannot read the cookie');

// A failing server and its error; then it is mended, and reconnected.
await page.locator('#servers button .dot.connected').first().waitFor();
await server('late').locator('.dot.failed').waitFor();
await server('late').click();
await page.locator('#server .alert', { hasText: task.late }).waitFor();
await shot('1-failed-1280');
writeFileSync(task.late, task.lateScript);
chmodSync(task.late, 0o755);
await page.locator('#server button', { hasText: 'Reconnect' }).click();
await server('late').locator('.dot.connected').waitFor();
await server('late').click();

// A call from the form, with the keyboard only.
await page.locator('body').press('/');
await page.keyboard.type('everything get-sum');
await page.waitForFunction(() => document.querySelectorAll('.tool').length === 1);
await page.keyboard.press('Tab');
await page.keyboard.press('Enter');
await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT' && document.activeElement.closest('.tool'));
await page.keyboard.type('40');
await page.keyboard.press('Tab');
await page.keyboard.type('2');
await page.keyboard.press('Enter');
await page.locator('.tool .result pre', { hasText: '42' }).waitFor();
assert.equal(await page.locator('.tool .command code').innerText(), 'mcparley call everything get-sum a=40 b=2');
await page.locator('.tool .command button').click();
assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'mcparley call everything get-sum a=40 b=2');
await shot('2-call-1280');
for (let pressed = 0; pressed < 40 && await page.evaluate(() => document.activeElement?.getAttribute('role')) !== 'tab'; pressed += 1) {
  await page.keyboard.press('Shift+Tab');
}
await page.keyboard.press('ArrowRight');
assert.equal(await tab('questions').getAttribute('aria-selected'), 'true');
const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
assert.notEqual(outline, 'none', 'the focus is visible');

// Markup in a result stays text; an image is shown.
const echo = await openTool('echo');
await echo.locator('textarea').first().fill('<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>');
await echo.locator('button', { hasText: /^Call$/ }).click();
await echo.locator('.result pre', { hasText: '<img src=x' }).waitFor();
assert.equal(await page.evaluate(() => window.hacked), undefined);
assert.equal(await echo.locator('.result img').count(), 0);
const image = await openTool('get-tiny-image');
await image.locator('button', { hasText: /^Call$/ }).click();
await image.locator('.result img').waitFor();
assert.ok(await image.locator('.result img').evaluate((node) => node.complete ? node.naturalWidth > 0 : node.decode().then(() => true)));

// A server asks in mid-call; the question is answered on the page.
async function answerQuestion(picture) {
  const asking = await openTool('trigger-elicitation-request');
  await asking.locator('button', { hasText: /^Call$/ }).click();
  await tab('questions').locator('.hot').waitFor();
  await tab('questions').click();
  const question = page.locator('.question');
  await question.waitFor();
  await question.locator('button', { hasText: /^Send$/ }).click();
  await question.locator('.error:visible').first().waitFor();
  await question.locator('.field textarea, .field input').first().fill('Ada');
  await shot(picture);
  await question.locator('button', { hasText: /^Send$/ }).click();
  await question.waitFor({ state: 'detached' });
  await tab('tools').click();
  await asking.locator('.result pre', { hasText: 'Ada' }).first().waitFor();
}
await answerQuestion('3-question-1280');

await tab('calls').click();
await page.locator('.plot circle').first().waitFor();
assert.ok(await page.locator('#calls tbody tr').count() >= 4);
await shot('4-calls-1280');
await page.emulateMedia({ colorScheme: 'dark' });
await shot('5-calls-dark-1280');
await tab('logs').click();
await server('late').click();
await page.locator('#log div', { hasText: task.late }).first().waitFor();
await shot('6-logs-dark-1280');
await server('late').click();
await tab('trust').click();
await page.locator('#trust .card').first().waitFor();
await shot('7-trust-dark-1280');
await page.emulateMedia({ colorScheme: 'light' });

// A narrow window: everything is there, and nothing is cut off.
await page.setViewportSize({ width: 400, height: 800 });
await page.reload();
await server('everything').locator('.dot.connected').waitFor();
await assertNoOverflow(400);
await shot('8-first-400');
await server('gone').locator('.dot.failed').waitFor();
await server('gone').click();
await page.locator('#server .alert').waitFor();
await assertNoOverflow(400);
await shot('9-failed-400');
await page.locator('#server button', { hasText: 'Reconnect' }).click();
await page.locator('.toast', { hasText: 'gone' }).first().waitFor();
await server('gone').click();
const sum = await openTool('get-sum');
await sum.locator('input').nth(0).fill('1');
await sum.locator('input').nth(1).fill('2');
await sum.locator('button', { hasText: /^Call$/ }).click();
await sum.locator('.result pre', { hasText: '3' }).waitFor();
await assertNoOverflow(400);
await sum.scrollIntoViewIfNeeded();
await shot('10-call-400');
await answerQuestion('11-question-400');
for (const name of ['calls', 'logs', 'trust']) {
  await tab(name).click();
  await assertNoOverflow(400);
}
await tab('calls').click();
await shot('12-calls-400');

figures.bytes = await page.evaluate(() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((entry) => /\/ui\/(|ui\.css|ui\.js)$/.test(new URL(entry.name).pathname))
  .reduce((sum, entry) => sum + entry.decodedBodySize, 0));
// A second visit, signed in: the time until the servers are listed.
const times = [];
for (let visit = 0; visit < 5; visit += 1) {
  await page.goto('about:blank');
  await page.goto(new URL('/ui/', task.address).href);
  times.push(Math.round(await (await page.waitForFunction(() => document.querySelector('#servers button') && performance.now(), undefined, { polling: 5 })).jsonValue()));
}
figures.laterViewsMilliseconds = times;
assert.deepEqual(troubles, [], 'no error and no violation of the policy');
assert.deepEqual(foreign, [], 'no request leaves the machine');
figures.version = browser.version();
await browser.close();
console.log(JSON.stringify(figures));
