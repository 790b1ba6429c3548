// A client of the gateway with several servers, for the official suite: it stands between the suite, which knows
// the upstream's own names and addresses, and the gateway, which offers them as `TAG__name` and `TAG+uri`.
//
//   node renaming-client.mjs TARGET-URL TAG     prints `listening URL`; ends with its standard input
import http from 'node:http';

const [target, tag] = [new URL(process.argv[2]), process.argv[3]];
const named = new Set(['tools/call', 'prompts/get']);
const addressed = new Set([
  'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'resources/directory/read', 'skills/get',
]);

const addName = (name) => (typeof name === 'string' ? `${tag}__${name}` : name);
const addTag = (uri) => {
  if (typeof uri !== 'string') return uri;
  return uri.startsWith('ui://') ? `ui://${tag}+${uri.slice(5)}` : `${tag}+${uri}`;
};
const removeName = (name) => (name.startsWith(`${tag}__`) ? name.slice(tag.length + 2) : name);
const removeTag = (uri) => {
  if (uri.startsWith(`ui://${tag}+`)) return `ui://${uri.slice(6 + tag.length)}`;
  return uri.startsWith(`${tag}+`) ? uri.slice(tag.length + 1) : uri;
};

// Renames a message of the suite; returns the old and the new value of `Mcp-Name`.
function renameRequest(message) {
  const { method, params } = message;
  if (!params || typeof params !== 'object') return [];
  if (named.has(method)) {
    const before = params.name;
    params.name = addName(before);
    return [before, params.name];
  }
  if (addressed.has(method)) {
    const before = params.uri;
    params.uri = addTag(before);
    return [before, params.uri];
  }
  if (method === 'completion/complete' && params.ref) {
    if (params.ref.type === 'ref/prompt') params.ref.name = addName(params.ref.name);
    else params.ref.uri = addTag(params.ref.uri);
  }
  const subscriptions = params.notifications?.resourceSubscriptions;
  if (Array.isArray(subscriptions)) params.notifications.resourceSubscriptions = subscriptions.map(addTag);
  return [];
}

// Renames everything in a message of the gateway, in place.
function renameResponse(value, key) {
  if (Array.isArray(value)) return value.map((item) => renameResponse(item, key));
  if (value && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) value[name] = renameResponse(member, name);
    return value;
  }
  if (typeof value !== 'string') return value;
  if (key === 'name') return removeName(value);
  return ['uri', 'uriTemplate', 'resourceUri', 'resourceSubscriptions'].includes(key) ? removeTag(value) : value;
}

const renameText = (text) => {
  try {
    return JSON.stringify(renameResponse(JSON.parse(text)));
  } catch {
    return text;
  }
};

// A header as it arrived, with our port replaced by the gateway's and the name replaced by its new one.
function forwardHeaders(raw, [before, after], length) {
  const headers = [];
  for (let place = 0; place < raw.length; place += 2) {
    const name = raw[place].toLowerCase();
    let value = raw[place + 1];
    if (name === 'content-length') continue;
    if (name === 'host' || name === 'origin') value = value.replace(`:${port}`, `:${target.port}`);
    if (name === 'mcp-name' && before !== undefined) {
      const encoded = value.trim().match(/^=\?base64\?(.*)\?=$/);
      const plain = encoded ? Buffer.from(encoded[1], 'base64').toString() : value.trim();
      if (plain === before) value = `=?base64?${Buffer.from(after).toString('base64')}?=`;
    }
    headers.push(raw[place], value);
  }
  if (length !== undefined) headers.push('Content-Length', String(length));
  return headers;
}

function forwardAnswer(answer, response) {
  const isEvents = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
  const headers = { ...answer.headers };
  delete headers['content-length'];
  if (isEvents) {
    response.writeHead(answer.statusCode, headers);
    let rest = '';
    answer.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const data = line.startsWith('data: ') && line.length > 6;
        response.write(data ? `data: ${renameText(line.slice(6))}\n` : `${line}\n`);
      }
    });
    answer.on('end', () => response.end(rest));
    answer.on('error', () => response.destroy());
    return;
  }
  const parts = [];
  answer.on('data', (chunk) => parts.push(chunk));
  answer.on('error', () => response.destroy());
  answer.on('end', () => {
    const body = renameText(Buffer.concat(parts).toString());
    response.writeHead(answer.statusCode, { ...headers, ...(body && { 'content-length': Buffer.byteLength(body) }) });
    response.end(body);
  });
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (chunk) => parts.push(chunk));
  request.on('end', () => {
    let body = Buffer.concat(parts);
    let names = [];
    try {
      const message = JSON.parse(body.toString());
      const messages = Array.isArray(message) ? message : [message];
      names = messages.map(renameRequest)[0] ?? [];
      body = Buffer.from(JSON.stringify(message));
    } catch {
      // What is no JSON goes on as it is.
    }
    const headers = forwardHeaders(request.rawHeaders, names, body.length || undefined);
    const { hostname: host, port: gateway } = target;
    const forwarded = http.request({ host, port: gateway, path: request.url, method: request.method, headers });
    forwarded.on('response', (answer) => forwardAnswer(answer, response));
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
});

let port;
server.listen(0, '127.0.0.1', () => {
  port = server.address().port;
  console.log(`listening http://127.0.0.1:${port}${target.pathname}`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
