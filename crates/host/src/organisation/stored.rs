//! A token that somebody else looks after: given for this run, or kept in a file by the program that signed in.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mcparley_model::limits::CREDENTIALS_BYTES;
use mcparley_model::secret::Secret;
use mcparley_platform::file::{Links, read_private};
use mcparley_wire::peer::Boxed;
use serde_json::Value;

use super::TokenSource;

/// The token that was given, else the one in a file. Renewing it is reading the file again: the program that
/// looks after it may have renewed it.
#[derive(Debug)]
pub struct StoredToken {
    given: Option<Secret<String>>,
    file: PathBuf,
    read: Mutex<Option<Result<Secret<String>, String>>>,
}

impl StoredToken {
    /// Nothing is read before it is needed.
    #[must_use]
    pub fn new(given: Option<Secret<String>>, file: PathBuf) -> Self {
        Self { given, file, read: Mutex::new(None) }
    }

    /// What the file said when it was read last, or says now if it was not.
    fn known(&self) -> Result<Secret<String>, String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.get_or_insert_with(|| token_in(&self.file)).clone()
    }

    fn read_again(&self, sent: &Secret<String>) -> Option<Secret<String>> {
        if self.given.is_some() {
            return None;
        }
        let newer = token_in(&self.file).ok().filter(|token| token != sent)?;
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Some(Ok(newer.clone()));
        Some(newer)
    }
}

impl TokenSource for StoredToken {
    fn current(&self) -> Option<Secret<String>> {
        self.given.clone().or_else(|| self.known().ok())
    }

    fn renew<'a>(&'a self, sent: &'a Secret<String>) -> Boxed<'a, Option<Secret<String>>> {
        Box::pin(std::future::ready(self.read_again(sent)))
    }

    fn why_none(&self) -> Option<String> {
        if self.given.is_some() { None } else { self.known().err() }
    }
}

fn token_in(file: &Path) -> Result<Secret<String>, String> {
    let read = read_private(file, CREDENTIALS_BYTES, Links::Follow).map_err(|error| error.to_string())?;
    let text = read.ok_or_else(|| format!("`{}` is not there", file.display()))?.text;
    let lacks = || format!("`{}` has no `claudeAiOauth.accessToken`", file.display());
    let value: Value = serde_json::from_str(&text).map_err(|_| lacks())?;
    let token = value.pointer("/claudeAiOauth/accessToken").and_then(Value::as_str);
    token.filter(|token| !token.is_empty()).map(|token| Secret::new(token.to_owned())).ok_or_else(lacks)
}
