//! The rules that say which clients may use a view of a gateway.

use std::fmt;
use std::str::FromStr;

/// A rule for principals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrincipalMatch {
    /// Everyone with a valid token: `*`.
    Everyone,
    /// An account, such as `token:ada` or `jwt:HASH`.
    Account(Box<str>),
    /// A subject of the issuer: `sub:SUBJECT`.
    Subject(Box<str>),
    /// A scope of the token: `scope:NAME`.
    Scope(Box<str>),
    /// A text claim of the token, or one value of a list: `claim:NAME=VALUE`.
    Claim(Box<str>, Box<str>),
}

/// A text that is no rule for principals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write `token:NAME`, `jwt:HASH`, `sub:SUBJECT`, `scope:NAME`, `claim:NAME=VALUE`, `unix:UID` or `*`")]
pub struct NoPrincipalMatch;

impl FromStr for PrincipalMatch {
    type Err = NoPrincipalMatch;

    fn from_str(text: &str) -> Result<Self, NoPrincipalMatch> {
        if text == "*" {
            return Ok(Self::Everyone);
        }
        let (kind, value) = text.split_once(':').ok_or(NoPrincipalMatch)?;
        match (kind, value) {
            (_, "") => Err(NoPrincipalMatch),
            ("token" | "jwt" | "unix", _) => Ok(Self::Account(text.into())),
            ("sub", subject) => Ok(Self::Subject(subject.into())),
            ("scope", scope) => Ok(Self::Scope(scope.into())),
            ("claim", claim) => match claim.split_once('=') {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    Ok(Self::Claim(name.into(), value.into()))
                }
                Some(_) | None => Err(NoPrincipalMatch),
            },
            _ => Err(NoPrincipalMatch),
        }
    }
}

impl PrincipalMatch {
    /// Whether the rule includes a client with this account, these scopes and these text claims.
    pub fn includes<'a>(
        &self,
        account: &str,
        mut scopes: impl Iterator<Item = &'a str>,
        mut claims: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        match self {
            Self::Everyone => true,
            Self::Account(known) => **known == *account,
            Self::Subject(subject) => claims.any(|claim| claim == ("sub", subject)),
            Self::Scope(scope) => scopes.any(|known| *known == **scope),
            Self::Claim(name, value) => claims.any(|claim| claim == (&**name, &**value)),
        }
    }
}

impl fmt::Display for PrincipalMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everyone => f.write_str("everyone"),
            Self::Account(account) => f.write_str(account.strip_prefix("token:").unwrap_or(account)),
            Self::Subject(subject) => write!(f, "sub:{subject}"),
            Self::Scope(scope) => write!(f, "scope:{scope}"),
            Self::Claim(name, value) => write!(f, "claim:{name}={value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G4
    #[test]
    fn rule_includes_the_clients_that_it_names() {
        let claims = [("sub", "ada"), ("groups", "ops"), ("groups", "dev")];
        for (rule, for_ada, for_token) in [
            ("*", true, true),
            ("token:ada", false, true),
            ("jwt:hash", true, false),
            ("sub:ada", true, false),
            ("scope:admin", true, false),
            ("scope:adm", false, false),
            ("claim:groups=dev", true, false),
            ("claim:groups=ops,dev", false, false),
        ] {
            let parsed: PrincipalMatch = rule.parse().unwrap();
            let is_ada = parsed.includes("jwt:hash", ["use", "admin"].into_iter(), claims.into_iter());
            let is_token = parsed.includes("token:ada", [].into_iter(), [].into_iter());
            assert_eq!((is_ada, is_token), (for_ada, for_token), "{rule}");
        }
        for wrong in ["", "ada", "token:", "claim:groups", "claim:=x", "claim:x=", "user:ada"] {
            assert_eq!(wrong.parse::<PrincipalMatch>(), Err(NoPrincipalMatch), "{wrong}");
        }
    }
}
