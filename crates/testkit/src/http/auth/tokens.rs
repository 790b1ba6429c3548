//! Codes, access tokens and refresh tokens: what they are good for, and when they no longer are.
//!
//! All tokens that come from one sign-in are a family. A refresh token is good once when tokens rotate; shown
//! again, it was stolen, and its whole family is revoked.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What a token stands for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grant {
    pub(crate) client: String,
    pub(crate) scope: String,
    pub(crate) resource: Option<String>,
    pub(crate) nonce: Option<String>,
    pub(crate) family: u64,
    /// The key it is bound to, as the proof named it.
    pub(crate) key: Option<Value>,
}

/// A code that waits to be redeemed.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) grant: Grant,
    pub(crate) redirect: String,
    pub(crate) challenge: String,
}

#[derive(Debug)]
struct Access {
    grant: Grant,
    until: Instant,
}

#[derive(Debug)]
struct Refresh {
    grant: Grant,
    is_spent: bool,
}

/// Everything that was ever issued and is not revoked.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    refresh: HashMap<String, Refresh>,
    made: HashMap<&'static str, u64>,
    families: u64,
    replays: u64,
}

impl Tokens {
    /// A name that nobody can have seen before.
    pub(crate) fn name(&mut self, kind: &'static str) -> String {
        let count = self.made.entry(kind).or_default();
        *count += 1;
        let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        format!("canary-{kind}-{count}-{moment:08x}{:04x}", std::process::id() & 0xffff)
    }

    pub(crate) fn family(&mut self) -> u64 {
        self.families += 1;
        self.families
    }

    pub(crate) fn keep_code(&mut self, code: Code) -> String {
        let name = self.name("code");
        self.codes.insert(name.clone(), code);
        name
    }

    /// A code is good once.
    pub(crate) fn redeem(&mut self, code: &str) -> Option<Code> {
        self.codes.remove(code)
    }

    pub(crate) fn issue_access(&mut self, grant: &Grant, life: Duration) -> String {
        let name = self.name("access");
        self.access.insert(name.clone(), Access { grant: grant.clone(), until: Instant::now() + life });
        name
    }

    pub(crate) fn issue_refresh(&mut self, grant: &Grant) -> String {
        let name = self.name("refresh");
        self.refresh.insert(name.clone(), Refresh { grant: grant.clone(), is_spent: false });
        name
    }

    /// What a refresh token stands for; spends it if asked to. One that was spent before ends its family.
    pub(crate) fn refresh(&mut self, token: &str, spend: bool) -> Option<Grant> {
        let found = self.refresh.get_mut(token)?;
        if found.is_spent {
            let family = found.grant.family;
            self.replays += 1;
            self.end_family(family);
            return None;
        }
        found.is_spent = spend;
        Some(found.grant.clone())
    }

    /// What an access token stands for now.
    pub(crate) fn access(&self, token: &str) -> Option<&Grant> {
        self.access.get(token).filter(|access| Instant::now() < access.until).map(|access| &access.grant)
    }

    /// No access token issued so far is good any longer.
    pub(crate) fn expire_access(&mut self) {
        self.access.clear();
    }

    /// Revoking a refresh token ends its family, an access token only itself.
    pub(crate) fn revoke(&mut self, token: &str) {
        self.access.remove(token);
        if let Some(family) = self.refresh.get(token).map(|refresh| refresh.grant.family) {
            self.end_family(family);
        }
    }

    fn end_family(&mut self, family: u64) {
        self.access.retain(|_, access| access.grant.family != family);
        self.refresh.retain(|_, refresh| refresh.grant.family != family);
    }

    pub(crate) fn issued(&self) -> Value {
        json!(self.made)
    }

    pub(crate) fn replays(&self) -> u64 {
        self.replays
    }
}
