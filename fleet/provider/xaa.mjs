// Cross-application access: an id_token of the identity provider becomes an ID-JAG (RFC 8693), and that an access
// token at the authorization server of one MCP server (RFC 7523).
import { randomUUID } from 'node:crypto';
import { load } from '../modules.mjs';
import { SCOPES } from './provider.mjs';

const jose = await load('jose');
const { errors } = await load('oidc-provider');

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const TYPE = 'oauth-id-jag+jwt';
/** The client that the identity provider knows at the other servers. */
const CLIENT = 'xaa-at-server';

const open = (keys) => jose.createLocalJWKSet({ keys: keys.map(({ d, p, q, dp, dq, qi, ...rest }) => rest) });
const refuse = (detail) => { throw new errors.InvalidGrant(detail); };

/** The identity provider's half, and the exchange of its access tokens for the client `gateway`. */
export function exchangeTokens({ provider, described, issuer, mcp, keys }, others) {
  const known = open(keys);
  const handler = async (ctx) => {
    const { subject_token: token, subject_token_type: kind, requested_token_type: wanted, audience, resource, scope } = ctx.oidc.params;
    if (kind === ACCESS_TOKEN && wanted === ACCESS_TOKEN) {
      const { payload } = await jose.jwtVerify(token ?? '', known, { issuer, typ: 'at+jwt' }).catch(() => refuse('subject_token'));
      if (resource !== mcp) throw new errors.InvalidTarget('no such resource');
      const { client } = ctx.oidc;
      const body = await issue(provider, described, { client, accountId: payload.sub, resource: mcp, scope: scope ?? 'mcp:use' });
      ctx.body = { ...body, issued_token_type: ACCESS_TOKEN };
      return;
    }
    if (kind !== ID_TOKEN || wanted !== ID_JAG) throw new errors.InvalidRequest('id_token to id-jag is all that is exchanged');
    const check = { issuer, audience: ctx.oidc.client.clientId };
    const { payload } = await jose.jwtVerify(token ?? '', known, check).catch(() => refuse('subject_token'));
    const target = others.find((other) => other.issuer === audience && other.mcp === resource);
    if (!target) throw new errors.InvalidTarget('no such audience and resource');
    const key = keys.find(({ alg }) => alg === 'ES256');
    const grant = await new jose.SignJWT({ resource, client_id: CLIENT, ...(scope && { scope }) })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: TYPE })
      .setIssuer(issuer).setSubject(payload.sub).setAudience(audience).setJti(randomUUID())
      .setIssuedAt().setExpirationTime('5m').sign(await jose.importJWK(key));
    ctx.body = { access_token: grant, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300, ...(scope && { scope }) };
  };
  provider.registerGrantType(EXCHANGE, handler, ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope']);
}

/** The half of an MCP server's authorization server: only ID-JAGs of `trusted`, for it, each once. */
export function acceptGrants({ provider, described, issuer, mcp }, trusted) {
  const known = open(trusted.keys);
  const seen = new Set();
  const handler = async (ctx) => {
    const { client, params } = ctx.oidc;
    const check = { issuer: trusted.issuer, audience: issuer, typ: TYPE };
    const { payload } = await jose.jwtVerify(params.assertion ?? '', known, check).catch(() => refuse('assertion'));
    if (payload.client_id !== client.clientId) refuse('client_id');
    if (payload.resource !== mcp) refuse('resource');
    if (seen.has(payload.jti)) refuse('jti');
    seen.add(payload.jti);
    ctx.body = await issue(provider, described, { client, accountId: payload.sub, resource: mcp, scope: params.scope ?? payload.scope ?? SCOPES });
  };
  provider.registerGrantType(BEARER, handler, ['assertion', 'scope', 'resource']);
}

async function issue(provider, described, { client, accountId, resource, scope }) {
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  grant.addResourceScope(resource, scope);
  const token = new provider.AccessToken({ accountId, client, grantId: await grant.save(), gty: 'jwt_bearer', scope });
  token.resourceServer = described;
  return { access_token: await token.save(), token_type: token.tokenType, expires_in: token.expiration, scope };
}
