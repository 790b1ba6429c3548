//! Edits the identity provider: `xaaIdp` in the user's settings.

use std::path::PathBuf;

use mcparley_model::settings::IdentityProvider;
use serde_json::json;

use crate::change_error::ChangeError;
use crate::edit_target::EditTarget;
use crate::paths::Paths;

/// Sets the identity provider in the user's settings; returns the file.
///
/// # Errors
/// When the file cannot be edited.
pub fn set_identity_provider(paths: &Paths, provider: &IdentityProvider) -> Result<PathBuf, ChangeError> {
    let IdentityProvider { issuer, client_id, callback_port } = provider;
    let mut value = json!({ "issuer": issuer, "clientId": client_id });
    if let Some(port) = callback_port {
        value["callbackPort"] = (*port).into();
    }
    let spot = EditTarget::for_user_choices(paths);
    let ((), updated) =
        spot.edit_file(|editor, path| editor.set_member(path, IdentityProvider::KEY, &value))?;
    Ok(updated.path().to_owned())
}

/// Removes the identity provider from the user's settings; returns the file if it was set.
///
/// # Errors
/// When the file cannot be edited.
pub fn remove_identity_provider(paths: &Paths) -> Result<Option<PathBuf>, ChangeError> {
    let spot = EditTarget::for_user_choices(paths);
    let removed =
        spot.edit_existing_file(|editor, path| editor.remove_member(path, IdentityProvider::KEY))?;
    Ok(removed.then_some(spot.file))
}
