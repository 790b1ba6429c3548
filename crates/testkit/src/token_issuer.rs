//! An issuer of access tokens in the test's own process: it publishes metadata and keys over HTTP on loopback,
//! and signs whatever a test wants, right or wrong.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED_SIGNING,
    EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384, RSA_PSS_SHA512, RsaSignatureEncoding,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// The number of bytes of a 2048-bit modulus.
const MODULUS_BYTES: usize = 256;

/// A running issuer. Its threads end with the process.
#[derive(Debug)]
pub struct TokenIssuer {
    address: SocketAddr,
    state: Arc<Mutex<IssuerState>>,
}

#[derive(Debug)]
struct IssuerState {
    keys: Vec<Value>,
    /// The status of every answer.
    status: u16,
    cache_control: String,
    /// The number of times that the keys were fetched.
    fetches: usize,
}

/// A key pair of an issuer.
pub struct TokenKey {
    id: String,
    pair: TokenKeyPair,
}

enum TokenKeyPair {
    Rsa(Box<rsa::KeyPair>),
    Ecdsa(&'static str, Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl TokenKey {
    /// Generates a key with this id for an algorithm, such as `RS256`.
    ///
    /// # Panics
    ///
    /// If the algorithm is unknown.
    #[expect(clippy::panic, reason = "a test with an unknown algorithm cannot say anything else")]
    pub fn generate(id: &str, algorithm: &str) -> Self {
        let ecdsa = |curve, algorithm: &'static EcdsaSigningAlgorithm| {
            EcdsaKeyPair::generate(algorithm).ok().map(|pair| TokenKeyPair::Ecdsa(curve, Box::new(pair)))
        };
        let pair = match algorithm {
            "ES256" => ecdsa("P-256", &ECDSA_P256_SHA256_FIXED_SIGNING),
            "ES384" => ecdsa("P-384", &ECDSA_P384_SHA384_FIXED_SIGNING),
            "ES512" => ecdsa("P-521", &ECDSA_P521_SHA512_FIXED_SIGNING),
            "EdDSA" => Ed25519KeyPair::generate().ok().map(|pair| TokenKeyPair::Ed25519(Box::new(pair))),
            name if rsa_encoding(name).is_some() => {
                rsa::KeyPair::generate(KeySize::Rsa2048).ok().map(|pair| TokenKeyPair::Rsa(Box::new(pair)))
            }
            _ => None,
        };
        match pair {
            Some(pair) => Self { id: id.to_owned(), pair },
            None => panic!("no key for `{algorithm}`"),
        }
    }

    /// The public key as its issuer publishes it.
    pub fn public_key(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut key = match &self.pair {
            TokenKeyPair::Rsa(pair) => {
                // The modulus stands before the exponent, 65537, which has five bytes with its length.
                let der = pair.public_key().as_ref();
                let end = der.len().saturating_sub(5);
                let modulus = der.get(end.saturating_sub(MODULUS_BYTES)..end).unwrap_or_default();
                json!({ "kty": "RSA", "n": text(modulus), "e": "AQAB" })
            }
            TokenKeyPair::Ecdsa(curve, pair) => {
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": curve, "x": text(x), "y": text(y) })
            }
            TokenKeyPair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref()) })
            }
        };
        key["kid"] = json!(self.id);
        key
    }

    /// Signs a token with this header and these claims. The header's `alg` chooses the algorithm; `none` leaves
    /// the signature out, and `HS256` uses the public key as the secret.
    ///
    /// # Panics
    ///
    /// If the key does not fit the algorithm.
    #[expect(clippy::panic, reason = "a test with a wrong key cannot say anything else")]
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let algorithm = header["alg"].as_str().unwrap_or_default();
        let random = SystemRandom::new();
        let signature = match (algorithm, &self.pair) {
            ("none", _) => Some(Vec::new()),
            ("HS256", _) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, &self.public_bytes());
                Some(hmac::sign(&key, signed.as_bytes()).as_ref().to_vec())
            }
            (name, TokenKeyPair::Rsa(pair)) => rsa_encoding(name).and_then(|encoding| {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, signed.as_bytes(), &mut signature).ok().map(|()| signature)
            }),
            (_, TokenKeyPair::Ecdsa(_, pair)) => {
                pair.sign(&random, signed.as_bytes()).ok().map(|signature| signature.as_ref().to_vec())
            }
            (_, TokenKeyPair::Ed25519(pair)) => Some(pair.sign(signed.as_bytes()).as_ref().to_vec()),
        };
        match signature {
            Some(signature) => format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)),
            None => panic!("the key cannot sign with `{algorithm}`"),
        }
    }

    /// The id of the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The public key in the form that a confused verifier would take for a shared secret.
    fn public_bytes(&self) -> Vec<u8> {
        match &self.pair {
            TokenKeyPair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            TokenKeyPair::Ecdsa(_, pair) => {
                pair.public_key().as_der().map(|der| der.as_ref().to_vec()).unwrap_or_default()
            }
            TokenKeyPair::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
        }
    }
}

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl TokenIssuer {
    /// Starts an issuer that publishes these keys.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    #[expect(clippy::expect_used, reason = "a test without its issuer cannot say anything else")]
    pub fn start(keys: &[&TokenKey]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = IssuerState { keys: Vec::new(), status: 200, cache_control: String::new(), fetches: 0 };
        let state = Arc::new(Mutex::new(state));
        let issuer = Self { address, state: Arc::clone(&state) };
        issuer.publish_keys(keys);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&state);
                std::thread::spawn(move || answer_request(&stream, address, &state));
            }
        });
        issuer
    }

    /// The issuer, as in `iss`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Publishes these keys from now on, and no others.
    pub fn publish_keys(&self, keys: &[&TokenKey]) {
        self.lock_state().keys = keys.iter().map(|key| key.public_key()).collect();
    }

    /// Answers every request with this status from now on; 200 is right.
    pub fn set_status(&self, status: u16) {
        self.lock_state().status = status;
    }

    /// Sets the `Cache-Control` of the keys.
    pub fn set_cache_control(&self, value: &str) {
        value.clone_into(&mut self.lock_state().cache_control);
    }

    /// The number of times that the keys were fetched, with or without success.
    pub fn fetch_count(&self) -> usize {
        self.lock_state().fetches
    }

    /// The claims of a good token for a resource: of the subject `ada`, for ten minutes.
    pub fn claims(&self, resource: &str) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        json!({
            "iss": self.url(), "sub": "ada", "aud": resource, "scope": "use",
            "iat": now, "nbf": now, "exp": now + 600,
        })
    }

    fn lock_state(&self) -> MutexGuard<'_, IssuerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn rsa_encoding(algorithm: &str) -> Option<&'static RsaSignatureEncoding> {
    Some(match algorithm {
        "RS256" => &RSA_PKCS1_SHA256,
        "RS384" => &RSA_PKCS1_SHA384,
        "RS512" => &RSA_PKCS1_SHA512,
        "PS256" => &RSA_PSS_SHA256,
        "PS384" => &RSA_PSS_SHA384,
        "PS512" => &RSA_PSS_SHA512,
        _ => return None,
    })
}

/// Answers one request of a connection, and closes it.
fn answer_request(mut stream: &TcpStream, address: SocketAddr, state: &Mutex<IssuerState>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next().and_then(|line| Some(line.split(' ').nth(1)?.to_owned()));
    while lines.next().is_some_and(|line| !line.is_empty()) {}
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let origin = format!("http://{address}");
    let (status, body) = match path.as_deref() {
        Some("/.well-known/oauth-authorization-server") => {
            // Counted here too, because an issuer that is away does not get to its keys.
            state.fetches += usize::from(state.status != 200);
            let metadata = json!({
                "issuer": origin, "token_endpoint": format!("{origin}/token"), "jwks_uri": format!("{origin}/keys"),
            });
            (state.status, metadata)
        }
        Some("/keys") => {
            state.fetches += 1;
            (state.status, json!({ "keys": state.keys }))
        }
        Some(_) | None => (404, json!({})),
    };
    let (body, cache) = (body.to_string(), state.cache_control.clone());
    drop(state);
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncache-control: {cache}\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    // A client that is gone gets no answer.
    drop(stream.write_all(format!("{head}{body}").as_bytes()));
}
