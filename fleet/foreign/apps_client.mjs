// A host of MCP Apps on the official SDK, for tests of `mcparley serve`: declares the extension, finds the tools with a user
// interface, and reads the page of each.
//
//     apps_client.mjs stdio PROGRAM [ARGUMENTS...]
//     apps_client.mjs http URL TOKEN
//
// Prints one line of JSON: the tools, and the address, type and digest of the page of each that has one.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const installed = createRequire(new URL('../../.tools/fleet/apps/package.json', import.meta.url));
const load = (name) => import(pathToFileURL(installed.resolve(name)));
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
const { getToolUiResourceUri, RESOURCE_MIME_TYPE } = await load('@modelcontextprotocol/ext-apps/app-bridge');

const [kind, ...target] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${target[1]}` };
const transport = kind === 'stdio'
  ? new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env })
  : new StreamableHTTPClientTransport(new URL(target[0]), { requestInit: { headers } });
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } };
const client = new Client({ name: 'apps', version: '1.0.0' }, { capabilities: { extensions } });
await client.connect(transport);

const { tools } = await client.listTools();
const pages = {};
for (const tool of tools) {
  const uri = getToolUiResourceUri(tool);
  if (uri === undefined) continue;
  const { contents: [page] } = await client.readResource({ uri });
  const digest = createHash('sha256').update(page.text).digest('hex');
  pages[tool.name] = { listed: uri, uri: page.uri, type: page.mimeType, digest };
}
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), pages }));
await client.close();
