// A real OpenID provider in front of a real MCP server, for the tests of sign-in. Loopback only, all in memory.
//
//   node fleet/provider.mjs [--port N] [--access-ttl SECONDS] [--tokens jwt|opaque] [--rotate yes|no]
//                           [--dpop no|yes|nonce] [--xaa N]
//
// Prints one line of JSON when everything listens:
//   issuer   the authorization server and identity provider; its `/stats` counts what it has seen
//   mcp      the protected MCP server
//   clients  what need not register: by secret, by private key, a device, and for XAA
//   xaa      N more MCP servers, each behind an authorization server of its own that takes ID-JAGs of the first
// Ends when its input does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { makeClients } from './provider/clients.mjs';
import { acceptGrants, exchangeTokens } from './provider/xaa.mjs';
import { makeProvider } from './provider/provider.mjs';
import { protect } from './provider/protected.mjs';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'access-ttl': { type: 'string', default: '3600' },
    tokens: { type: 'string', default: 'jwt' },
    rotate: { type: 'string', default: 'yes' },
    dpop: { type: 'string', default: 'no' },
    xaa: { type: 'string', default: '0' },
  },
});

/** A server that listens before anybody knows what it will answer: addresses are needed first. */
async function listen(port = 0) {
  const server = createServer((request, response) => server.answer(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

/** An authorization server and the MCP server it protects. */
async function makePair(clients, port) {
  const [front, back] = [await listen(port), await listen()];
  const pair = { issuer: front.origin, mcp: `${back.origin}/mcp` };
  const settings = {
    issuer: front.origin,
    resource: pair.mcp,
    clients,
    accessTtl: Number(options['access-ttl']),
    format: options.tokens,
    rotates: options.rotate === 'yes',
    dpop: options.dpop,
  };
  const made = await makeProvider(settings);
  front.server.answer = made.answer;
  back.server.answer = await protect(settings, made);
  return { ...pair, ...made };
}

const clients = await makeClients();
const first = await makePair(clients.ofProvider, Number(options.port));
const others = [];
for (let count = 0; count < Number(options.xaa); count += 1) {
  const other = await makePair(clients.ofOthers);
  acceptGrants(other, first);
  others.push(other);
}
exchangeTokens(first, others);

const place = ({ issuer, mcp }) => ({ issuer, mcp });
console.log(JSON.stringify({ ...place(first), clients: clients.told, xaa: others.map(place) }));
process.stdin.on('end', () => process.exit(0)).resume();
