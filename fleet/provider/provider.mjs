// One OpenID provider: `oidc-provider`, with a person who agrees to everything as soon as a page is opened.
import { randomBytes } from 'node:crypto';
import { load } from '../modules.mjs';
import { countEvents } from './stats.mjs';

const jose = await load('jose');
const { Provider, errors } = await load('oidc-provider');

/** The account of a browser without the cookie of another one; `/person/NAME` sets that. */
export const PERSON = 'canary-person';
/** Everything that can be asked for at the MCP server. */
export const SCOPES = 'mcp:use mcp:admin';

async function makeKeys() {
  const pairs = [];
  for (const alg of ['RS256', 'ES256']) {
    const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
    pairs.push({ ...(await jose.exportJWK(privateKey)), alg, use: 'sig', kid: alg });
  }
  return pairs;
}

/** `answer` serves a request; `described` is the MCP server, as tokens name it. */
export async function makeProvider(settings) {
  const keys = await makeKeys();
  const provider = new Provider(settings.issuer, configuration(settings, keys));
  const stats = countEvents(provider);
  const own = provider.callback();
  const answer = async (request, response) => {
    const url = new URL(request.url, settings.issuer);
    try {
      if (url.pathname === '/stats') return say(response, stats);
      if (url.pathname.startsWith('/person/')) {
        response.setHeader('set-cookie', `person=${encodeURIComponent(url.pathname.slice('/person/'.length))}; Path=/`);
        return say(response, {});
      }
      if (url.pathname.startsWith('/interaction/')) {
        stats.interactions += 1;
        return await agree(provider, settings, request, response);
      }
      if (request.method === 'GET' && url.pathname === '/device' && url.searchParams.has('user_code')) {
        return say(response, await approve(provider, settings, url.searchParams.get('user_code')));
      }
      return await own(request, response);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  };
  const described = new provider.ResourceServer(settings.resource, describe(settings));
  return { provider, keys, answer, described };
}

function say(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** What the MCP server is to its provider. */
function describe({ resource, accessTtl, format }) {
  const server = { scope: SCOPES, audience: resource, accessTokenTTL: accessTtl, accessTokenFormat: format };
  return format === 'jwt' ? { ...server, jwt: { sign: { alg: 'ES256' } } } : server;
}

function configuration(settings, keys) {
  const { resource, clients, accessTtl, rotates, dpop } = settings;
  return {
    clients,
    jwks: { keys },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256', 'RS256'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: 'person@example.com' }) }),
    pkce: { required: () => true },
    rotateRefreshToken: rotates,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    ttl: { AccessToken: accessTtl, ClientCredentials: accessTtl, IdToken: 3600, RefreshToken: 86400, Grant: 86400 },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      dPoP: dpop === 'nonce'
        ? { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true }
        : { enabled: dpop === 'yes' },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, asked) => {
          if (asked !== resource) throw new errors.InvalidTarget('no such resource');
          return describe(settings);
        },
      },
    },
  };
}

/** The account that a browser has chosen. */
function personOf(request) {
  const [, name] = /(?:^|;\s*)person=([^;]*)/.exec(request.headers.cookie ?? '') ?? [];
  return name ? decodeURIComponent(name) : PERSON;
}

/** Signs the person in, or agrees to what is asked, and goes on. */
async function agree(provider, settings, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const result = prompt.name === 'login'
    ? { login: { accountId: personOf(request) } }
    : { consent: { grantId: await makeGrant(provider, settings, params, session.accountId) } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

async function makeGrant(provider, { resource }, params, accountId) {
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  const asked = String(params.scope ?? '');
  grant.addOIDCScope(asked);
  grant.addResourceScope(resource, asked);
  return grant.save();
}

/** Approves a device, as a person does who opens its page and agrees. */
async function approve(provider, settings, userCode) {
  const code = await provider.DeviceCode.findByUserCode(userCode.replace(/[^A-Za-z]/g, '').toUpperCase());
  if (!code) return { approved: false };
  const params = { client_id: code.clientId, scope: code.params?.scope ?? code.scope };
  const grantId = await makeGrant(provider, settings, params, PERSON);
  const resource = code.params?.resource ?? code.resource;
  Object.assign(code, { accountId: PERSON, grantId, scope: params.scope, resource, authTime: Math.floor(Date.now() / 1000) });
  await code.save();
  return { approved: true };
}
