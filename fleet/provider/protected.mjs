// A real MCP server that lets in who has a token of its provider, made for it and good now.
import { createHash } from 'node:crypto';
import { load } from '../modules.mjs';

const SDK = '@modelcontextprotocol/sdk/server';
const jose = await load('jose');
const { default: express } = await load('express');
const { McpServer } = await load(`${SDK}/mcp.js`);
const { StreamableHTTPServerTransport } = await load(`${SDK}/streamableHttp.js`);
const { requireBearerAuth } = await load(`${SDK}/auth/middleware/bearerAuth.js`);
const { InvalidTokenError } = await load(`${SDK}/auth/errors.js`);

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Serves requests to the MCP server. */
export async function protect(settings, made) {
  const { issuer, resource } = settings;
  const metadata = new URL(`${WELL_KNOWN}/mcp`, resource).href;
  const page = { resource, authorization_servers: [issuer], scopes_supported: ['mcp:use'], bearer_methods_supported: ['header'] };
  const verifier = { verifyAccessToken: (token) => verify(settings, made, token) };
  const bearer = requireBearerAuth({ verifier, requiredScopes: ['mcp:use'], resourceMetadataUrl: metadata, expectedResource: new URL(resource) });
  const app = express();
  app.get([WELL_KNOWN, `${WELL_KNOWN}/mcp`], (_, response) => response.json(page));
  app.use(express.json());
  if (settings.dpop !== 'no') app.use('/mcp', proven(settings, metadata));
  app.use('/mcp', bearer, admin(metadata));
  app.post('/mcp', serve);
  app.all('/mcp', (_, response) => response.status(405).end());
  return app;
}

/** What a token says, if this provider made it for this server. */
async function verify({ issuer, resource, format }, { provider, keys }, token) {
  const claims = format === 'jwt' ? await verified(issuer, resource, keys, token) : await looked(provider, token);
  if (!claims) throw new InvalidTokenError('not a token of this provider for this server');
  const { scope = '', client_id: clientId, exp: expiresAt, sub, cnf } = claims;
  return { token, clientId, scopes: scope.split(' '), expiresAt, resource: new URL(resource), extra: { sub, cnf } };
}

async function verified(issuer, audience, keys, token) {
  const known = jose.createLocalJWKSet({ keys: keys.map(({ d, p, q, dp, dq, qi, ...open }) => open) });
  const read = jose.jwtVerify(token, known, { issuer, audience, typ: 'at+jwt' });
  return read.then(({ payload }) => payload, () => undefined);
}

/** An opaque token is looked up where the provider keeps it, as introspection would. */
async function looked(provider, token) {
  const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
  return found && { scope: found.scope, client_id: found.clientId, exp: found.exp, sub: found.accountId, cnf: found.jkt && { jkt: found.jkt } };
}

/** The tool `admin` needs more than the others. */
function admin(metadata) {
  return ({ auth, body }, response, next) => {
    const needs = body?.method === 'tools/call' && body.params?.name === 'admin';
    if (!needs || auth.scopes.includes('mcp:admin')) return next();
    const challenge = `Bearer error="insufficient_scope", scope="mcp:admin", resource_metadata="${metadata}"`;
    return response.status(403).set('WWW-Authenticate', challenge).json({ error: 'insufficient_scope' });
  };
}

/** Proofs of possession (RFC 9449); what is proven goes on as a bearer token. */
function proven({ resource }, metadata) {
  return async (request, response, next) => {
    const refuse = (error) => response.status(401)
      .set('WWW-Authenticate', `DPoP ${error ? `error="${error}", ` : ''}scope="mcp:use", resource_metadata="${metadata}"`).end();
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (!token) return refuse();
    try {
      const proof = request.headers.dpop;
      const { payload, protectedHeader } = await jose.jwtVerify(proof, jose.EmbeddedJWK, { typ: 'dpop+jwt', maxTokenAge: 300 });
      const ath = createHash('sha256').update(token).digest('base64url');
      const { cnf } = jose.decodeJwt(token);
      const fits = scheme === 'DPoP' && payload.htm === request.method && payload.htu === resource && payload.ath === ath
        && cnf.jkt === await jose.calculateJwkThumbprint(protectedHeader.jwk);
      if (!fits) return refuse('invalid_dpop_proof');
    } catch {
      return refuse('invalid_dpop_proof');
    }
    request.headers.authorization = `Bearer ${token}`;
    return next();
  };
}

/** One server for each request: there are no sessions. */
async function serve(request, response) {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  server.registerTool('whoami', { description: 'Who is signed in', annotations: { readOnlyHint: true } }, ({ authInfo }) =>
    text({ subject: authInfo.extra.sub, client: authInfo.clientId, scopes: authInfo.scopes }));
  server.registerTool('admin', { description: 'Needs the scope mcp:admin' }, () => text({ admin: true }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => { transport.close(); server.close(); });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
}
