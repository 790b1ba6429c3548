//! The address of a Redis server. Its credentials are secret: the address is shown without them.

use std::fmt;

use mcparley_model::secret::Secret;

/// The address of a Redis server: `redis://` or `rediss://`.
pub struct StoreAddress {
    url: Secret<String>,
    shown: String,
}

/// Error of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write `redis://HOST:PORT/DATABASE`, or `rediss://` for TLS")]
pub struct StoreAddressError;

impl StoreAddress {
    /// Parses an address.
    ///
    /// # Errors
    /// When it is no address of a Redis server.
    pub fn parse(text: &str) -> Result<Self, StoreAddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(StoreAddressError)?;
        if !matches!(scheme, "redis" | "rediss") || rest.is_empty() {
            return Err(StoreAddressError);
        }
        // The last `@` ends the credentials, which may contain others; a query may hold a password too.
        let (before, _query) = rest.split_once('?').unwrap_or((rest, ""));
        let shown = match before.rsplit_once('@') {
            Some((_, "")) => return Err(StoreAddressError),
            Some((_, host)) => format!("{scheme}://***@{host}"),
            None => format!("{scheme}://{before}"),
        };
        Ok(Self { url: Secret::new(text.to_owned()), shown })
    }

    /// The whole address with its credentials.
    #[cfg_attr(
        not(any(feature = "redis", test)),
        expect(dead_code, reason = "only a client of Redis needs the credentials")
    )]
    pub(crate) fn expose_url(&self) -> &str {
        self.url.expose()
    }
}

impl Clone for StoreAddress {
    fn clone(&self) -> Self {
        Self { url: Secret::new(self.url.expose().clone()), shown: self.shown.clone() }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreAddress").field(&self.shown).finish()
    }
}

#[cfg(test)]
mod tests {
    //! Addresses, and their form in messages.
    use super::*;

    // G9 B78
    #[test]
    fn credentials_of_an_address_are_not_shown() {
        let shown = [
            ("redis://127.0.0.1:6379/1", "redis://127.0.0.1:6379/1"),
            ("redis://:secret-word@cache/0", "redis://***@cache/0"),
            ("rediss://user:p@ss@cache:1/?password=secret-word", "rediss://***@cache:1/"),
        ];
        for (text, expected) in shown {
            let address = StoreAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), expected);
            assert_eq!(format!("{address:?}"), format!("StoreAddress({expected:?})"));
            assert_eq!(address.expose_url(), text);
        }
        for text in ["", "cache:6379", "http://cache", "redis://", "redis://user:pass@"] {
            assert!(StoreAddress::parse(text).is_err(), "{text}");
        }
    }
}
