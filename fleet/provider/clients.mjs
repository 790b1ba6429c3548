// The clients that need not register.
import { load } from '../modules.mjs';

const jose = await load('jose');

const ALGORITHM = 'ES256';
/** Where a browser is sent back to; of a native client any port of loopback will do. */
const REDIRECTS = ['http://127.0.0.1/callback', 'http://localhost/callback', 'http://[::1]/callback'];

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

const machine = (more) => ({ grant_types: ['client_credentials'], redirect_uris: [], response_types: [], ...more });
const native = { application_type: 'native', redirect_uris: REDIRECTS };

/** What the providers know, and what a test is told. */
export async function makeClients() {
  const { publicKey, privateKey } = await jose.generateKeyPair(ALGORITHM, { extractable: true });
  const key = { ...(await jose.exportJWK(publicKey)), alg: ALGORITHM, use: 'sig', kid: 'machine' };
  const secret = { client_id: 'machine-by-secret', client_secret: 'canary-secret-of-the-machine' };
  const byKey = { client_id: 'machine-by-key' };
  const registered = { client_id: 'registered-before', client_secret: 'canary-secret-registered-before' };
  const device = { client_id: 'device' };
  const gateway = { client_id: 'gateway', client_secret: 'canary-secret-of-the-gateway' };
  const idp = { client_id: 'xaa-at-provider' };
  const xaa = { client_id: 'xaa-at-server', client_secret: 'canary-secret-for-xaa' };
  return {
    ofProvider: [
      machine({ ...secret, token_endpoint_auth_method: 'client_secret_basic' }),
      machine({ ...byKey, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } }),
      { ...registered, ...native, grant_types: ['authorization_code', 'refresh_token'] },
      { ...device, token_endpoint_auth_method: 'none', grant_types: [DEVICE, 'refresh_token'], redirect_uris: [], response_types: [] },
      machine({ ...gateway, token_endpoint_auth_method: 'client_secret_basic', grant_types: [EXCHANGE] }),
      { ...idp, ...native, token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token', EXCHANGE] },
    ],
    ofOthers: [machine({ ...xaa, token_endpoint_auth_method: 'client_secret_basic', grant_types: [BEARER] })],
    told: {
      secret,
      key: { ...byKey, private_key_pem: await jose.exportPKCS8(privateKey), signing_algorithm: ALGORITHM },
      registered,
      device,
      gateway,
      idp,
      xaa,
    },
  };
}
