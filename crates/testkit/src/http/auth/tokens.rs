//! Authorization codes, access tokens and refresh tokens: their grants and their validity.
//!
//! All tokens from one sign-in form a family. With rotation a refresh token is valid once; a replay means
//! that it was stolen, and revokes the whole family.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The grant behind a token.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeGrant {
    pub(crate) client: String,
    pub(crate) scope: String,
    pub(crate) resource: Option<String>,
    pub(crate) nonce: Option<String>,
    pub(crate) family: u64,
    /// The key the token is bound to, as stated in the proof.
    pub(crate) key: Option<Value>,
}

/// An authorization code that has not been redeemed.
#[derive(Clone, Debug)]
pub(crate) struct FakeAuthCode {
    pub(crate) grant: FakeGrant,
    pub(crate) redirect: String,
    pub(crate) challenge: String,
}

#[derive(Debug)]
struct AccessToken {
    grant: FakeGrant,
    until: Instant,
}

#[derive(Debug)]
struct RefreshToken {
    grant: FakeGrant,
    is_spent: bool,
}

/// All issued codes and tokens that are not revoked.
#[derive(Debug, Default)]
pub(crate) struct IssuedTokens {
    codes: HashMap<String, FakeAuthCode>,
    access: HashMap<String, AccessToken>,
    refresh: HashMap<String, RefreshToken>,
    issued: HashMap<&'static str, u64>,
    families: u64,
    replays: u64,
}

impl IssuedTokens {
    /// A unique name for a token of this kind.
    pub(crate) fn unique_name(&mut self, kind: &'static str) -> String {
        let count = self.issued.entry(kind).or_default();
        *count += 1;
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        format!("canary-{kind}-{count}-{moment:08x}{:04x}", std::process::id() & 0xffff)
    }

    pub(crate) fn new_family(&mut self) -> u64 {
        self.families += 1;
        self.families
    }

    pub(crate) fn store_code(&mut self, code: FakeAuthCode) -> String {
        let name = self.unique_name("code");
        self.codes.insert(name.clone(), code);
        name
    }

    /// Redeems an authorization code, which is valid once.
    pub(crate) fn redeem_code(&mut self, code: &str) -> Option<FakeAuthCode> {
        self.codes.remove(code)
    }

    pub(crate) fn issue_access(&mut self, grant: &FakeGrant, life: Duration) -> String {
        let name = self.unique_name("access");
        self.access.insert(name.clone(), AccessToken { grant: grant.clone(), until: Instant::now() + life });
        name
    }

    pub(crate) fn issue_refresh(&mut self, grant: &FakeGrant) -> String {
        let name = self.unique_name("refresh");
        self.refresh.insert(name.clone(), RefreshToken { grant: grant.clone(), is_spent: false });
        name
    }

    /// The grant of a refresh token; spends the token if asked to. A replay of a spent token revokes its
    /// family.
    pub(crate) fn use_refresh_token(&mut self, token: &str, spend: bool) -> Option<FakeGrant> {
        let found = self.refresh.get_mut(token)?;
        if found.is_spent {
            let family = found.grant.family;
            self.replays += 1;
            self.revoke_family(family);
            return None;
        }
        found.is_spent = spend;
        Some(found.grant.clone())
    }

    /// The grant of an access token that is valid now.
    pub(crate) fn access_grant(&self, token: &str) -> Option<&FakeGrant> {
        self.access.get(token).filter(|access| Instant::now() < access.until).map(|access| &access.grant)
    }

    /// Invalidates all access tokens issued so far.
    pub(crate) fn expire_access(&mut self) {
        self.access.clear();
    }

    /// Revokes a token: a refresh token with its family, an access token alone.
    pub(crate) fn revoke_token(&mut self, token: &str) {
        self.access.remove(token);
        if let Some(family) = self.refresh.get(token).map(|refresh| refresh.grant.family) {
            self.revoke_family(family);
        }
    }

    fn revoke_family(&mut self, family: u64) {
        self.access.retain(|_, access| access.grant.family != family);
        self.refresh.retain(|_, refresh| refresh.grant.family != family);
    }

    pub(crate) fn issued_counts(&self) -> Value {
        json!(self.issued)
    }

    pub(crate) fn replay_count(&self) -> u64 {
        self.replays
    }
}
