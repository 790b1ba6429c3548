//! A token managed by another program: passed in for this run, or read from that program's credentials file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::CREDENTIALS_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{SymlinkPolicy, read_private};
use mcparley_wire::peer::BoxedFuture;
use serde_json::Value;

use super::TokenSource;

/// The token that was passed in, else the one in a file. Renewing means reading the file again, because the
/// program that owns it may have renewed the token.
#[derive(Debug)]
pub struct StoredToken {
    given: Option<Secret<String>>,
    file: PathBuf,
    read: Mutex<Option<Result<Secret<String>, String>>>,
}

impl StoredToken {
    /// A token source. The file is read on first use.
    #[must_use]
    pub fn new(given: Option<Secret<String>>, file: PathBuf) -> Self {
        Self { given, file, read: Mutex::new(None) }
    }

    /// The token in the file, cached after the first read.
    fn cached_token(&self) -> Result<Secret<String>, String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.get_or_insert_with(|| read_token(&self.file)).clone()
    }

    /// Reads the file again; `None` if it still has the token that was refused.
    fn reread_token(&self, sent: &Secret<String>) -> Option<Secret<String>> {
        if self.given.is_some() {
            return None;
        }
        let newer = read_token(&self.file).ok().filter(|token| token != sent)?;
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(newer.clone()));
        Some(newer)
    }
}

impl TokenSource for StoredToken {
    fn current_token(&self) -> Option<Secret<String>> {
        self.given.clone().or_else(|| self.cached_token().ok())
    }

    fn renew_token<'a>(&'a self, sent: &'a Secret<String>) -> BoxedFuture<'a, Option<Secret<String>>> {
        Box::pin(std::future::ready(self.reread_token(sent)))
    }

    fn missing_reason(&self) -> Option<String> {
        if self.given.is_some() { None } else { self.cached_token().err() }
    }
}

/// Reads the access token from a credentials file.
fn read_token(file: &Path) -> Result<Secret<String>, String> {
    let read =
        read_private(file, CREDENTIALS_BYTES, SymlinkPolicy::Follow).map_err(|error| error.to_string())?;
    let text = read.ok_or_else(|| format!("`{}` does not exist", file.display()))?.text;
    let lacks = || format!("`{}` has no `claudeAiOauth.accessToken`", file.display());
    let value: Value = serde_json::from_str(&text).map_err(|_| lacks())?;
    let token = value.pointer("/claudeAiOauth/accessToken").and_then(Value::as_str);
    token.filter(|token| !token.is_empty()).map(|token| Secret::new(token.to_owned())).ok_or_else(lacks)
}
