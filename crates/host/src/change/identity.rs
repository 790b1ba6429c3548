//! Writes down who knows the person: `xaaIdp` in the user's settings (A6).

use std::path::PathBuf;

use mcparley_model::settings::IdentityProvider;
use serde_json::json;

use super::{ChangeError, Spot};
use crate::paths::Paths;

/// Names the identity provider in the user's settings; gives the file.
///
/// # Errors
/// When the file cannot be edited.
pub fn name_identity_provider(paths: &Paths, provider: &IdentityProvider) -> Result<PathBuf, ChangeError> {
    let IdentityProvider { issuer, client_id, callback_port } = provider;
    let mut value = json!({ "issuer": issuer, "clientId": client_id });
    if let Some(port) = callback_port {
        value["callbackPort"] = (*port).into();
    }
    let spot = Spot::user_choices(paths);
    let ((), updated) = spot.change(|editor, path| editor.set(path, IdentityProvider::KEY, &value))?;
    Ok(updated.path().to_owned())
}

/// Takes it out of the user's settings; gives the file if it stood there.
///
/// # Errors
/// When the file cannot be edited.
pub fn forget_identity_provider(paths: &Paths) -> Result<Option<PathBuf>, ChangeError> {
    let spot = Spot::user_choices(paths);
    let removed = spot.change_existing(|editor, path| editor.remove(path, IdentityProvider::KEY))?;
    Ok(removed.then_some(spot.file))
}
