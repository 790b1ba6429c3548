// A client on the runtime of mcporter, for tests of `mcparley serve`. Its arguments and output are those of `python_sdk_1.py`.
// The runtime declares no elicitation.
import { createRuntime } from '../../.tools/fleet/mcporter/node_modules/mcporter/dist/index.js';

const [steps, kind, ...target] = process.argv.slice(2);
const { tool, arguments: args, resource: uri, prompt: name, question } = JSON.parse(steps);
const stdio = () => ({ kind: 'stdio', command: target[0], args: target.slice(1), cwd: process.cwd() });
const http = () => ({ kind: 'http', url: new URL(target[0]), headers: { Authorization: `Bearer ${target[1]}` } });
const server = { name: 'mcparley', command: kind === 'stdio' ? stdio() : http() };
const runtime = await createRuntime({ servers: [server] });

const tools = await runtime.listTools('mcparley');
const called = await runtime.callTool('mcparley', tool, { args });
const { client } = await runtime.connect('mcparley');
const resource = await client.readResource({ uri });
const prompt = await client.getPrompt({ name });
const asked = await runtime.callTool('mcparley', question, { args: {} });
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  call: called.content[0].text,
  resource: resource.contents[0].text,
  prompt: prompt.messages[0].content.text,
  answer: asked.content.map((block) => block.text).join(' '),
}));
await runtime.close();
