//! The desktop's keychain: the Secret Service of freedesktop.org, on the session bus.
//!
//! The user is never prompted: a locked keychain counts as locked. The key is sent as plain text over the
//! bus's socket, which only this user's programs can open; any of them may ask for it anyway.

use std::time::Duration;

use super::Keychain;
use super::bus::{DBusCall, DBusConnection, DBusReply, DBusWriter};
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::key_location::{KeyPlace, KeyPlaceError};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// The object path for "no object": no such object, or no prompt needed.
const NO_OBJECT: &str = "/";

/// The Secret Service behind a session bus.
#[derive(Debug)]
pub(in crate::vault) struct SecretService {
    bus: Option<String>,
    limit: Duration,
}

/// An open session with the service.
struct SecretSession {
    bus: DBusConnection,
    path: String,
}

impl SecretService {
    pub(in crate::vault) fn new(bus: Option<String>, limit: Duration) -> Self {
        Self { bus, limit }
    }

    fn open_session(&self) -> Result<SecretSession, KeyPlaceError> {
        let address = self.bus.as_deref().ok_or(KeyPlaceError::NoBus)?;
        let mut bus = DBusConnection::connect(address, self.limit)?;
        let plain = |values: &mut DBusWriter| {
            values.write_text("plain").write_signature("s").write_text("");
        };
        let reply =
            bus.call(DBusCall::new(NAME, ROOT, SERVICE, "OpenSession").with_arguments("sv", plain))?;
        let path = session_path(&reply)?;
        Ok(SecretSession { bus, path })
    }
}

impl Keychain for SecretService {
    fn place(&self) -> KeyPlace {
        KeyPlace::SecretService
    }

    fn find_key(&self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        self.open_session()?.find_key(id)
    }

    fn store_key(&self, fresh: &DataKey) -> Result<DataKey, KeyPlaceError> {
        let mut session = self.open_session()?;
        let collection = session.default_collection()?;
        session.unlock_object(&collection)?;
        session.create_item(&collection, fresh)?;
        session.find_key(&fresh.id())?.filter(|kept| kept.id() == fresh.id()).ok_or(KeyPlaceError::NotStored)
    }
}

impl SecretSession {
    fn find_key(&mut self, id: &KeyId) -> Result<Option<DataKey>, KeyPlaceError> {
        let search = DBusCall::new(NAME, ROOT, SERVICE, "SearchItems")
            .with_arguments("a{ss}", |values| write_attributes(values, id));
        let reply = self.bus.call(search)?;
        let mut values = reply.values("aoao")?;
        let unlocked = values.read_paths().ok_or(KeyPlaceError::Malformed)?;
        let locked = values.read_paths().ok_or(KeyPlaceError::Malformed)?;
        match (unlocked.first(), locked.first()) {
            (Some(item), _) => self.read_secret(item),
            (None, Some(item)) => {
                self.unlock_object(item)?;
                self.read_secret(item)
            }
            (None, None) => Ok(None),
        }
    }

    fn read_secret(&mut self, item: &str) -> Result<Option<DataKey>, KeyPlaceError> {
        let session = self.path.clone();
        let ask = DBusCall::new(NAME, item, ITEM, "GetSecret").with_arguments("o", |values| {
            values.write_text(&session);
        });
        let reply = self.bus.call(ask)?;
        let mut values = reply.values("(oayays)")?;
        let _session_and_parameters = (values.read_text(), values.read_octets());
        let value = values.read_octets().ok_or(KeyPlaceError::Malformed)?;
        Ok(std::str::from_utf8(value).ok().and_then(DataKey::from_base64))
    }

    /// The collection for new secrets.
    fn default_collection(&mut self) -> Result<String, KeyPlaceError> {
        let ask = DBusCall::new(NAME, ROOT, SERVICE, "ReadAlias").with_arguments("s", |values| {
            values.write_text("default");
        });
        let reply = self.bus.call(ask)?;
        match reply.values("o")?.read_text().ok_or(KeyPlaceError::Malformed)? {
            NO_OBJECT => Err(KeyPlaceError::NotPersistent),
            path => Ok(path.to_owned()),
        }
    }

    /// Unlocks an object if that needs no prompt.
    fn unlock_object(&mut self, object: &str) -> Result<(), KeyPlaceError> {
        let ask = DBusCall::new(NAME, ROOT, SERVICE, "Unlock").with_arguments("ao", |values| {
            values.write_list(4, |values| {
                values.write_text(object);
            });
        });
        let reply = self.bus.call(ask)?;
        let mut values = reply.values("aoo")?;
        let unlocked = values.read_paths().ok_or(KeyPlaceError::Malformed)?;
        let prompt = values.read_text().ok_or(KeyPlaceError::Malformed)?;
        (prompt == NO_OBJECT && unlocked.contains(&object)).then_some(()).ok_or(KeyPlaceError::Locked)
    }

    fn create_item(&mut self, collection: &str, key: &DataKey) -> Result<(), KeyPlaceError> {
        let session = self.path.clone();
        let ask = DBusCall::new(NAME, collection, COLLECTION, "CreateItem");
        let reply = self.bus.call(ask.with_arguments("a{sv}(oayays)b", |values| {
            write_properties(values, &key.id());
            values.pad_to(8).write_text(&session).write_octets(&[]).write_octets(key.to_base64().as_bytes());
            values.write_text("text/plain; charset=utf8").write_bool(true);
        }))?;
        let mut values = reply.values("oo")?;
        let (_item, prompt) = (values.read_text(), values.read_text().ok_or(KeyPlaceError::Malformed)?);
        (prompt == NO_OBJECT).then_some(()).ok_or(KeyPlaceError::Locked)
    }
}

fn session_path(reply: &DBusReply) -> Result<String, KeyPlaceError> {
    let mut values = reply.values("vo")?;
    // The negotiated output for plain text is empty, of either signature.
    match values.read_signature() {
        Some("s") => drop(values.read_text()),
        Some("ay") => drop(values.read_octets()),
        Some(_) | None => return Err(KeyPlaceError::Malformed),
    }
    values.read_text().map(str::to_owned).ok_or(KeyPlaceError::Malformed)
}

/// Writes the attributes by which the item is found again.
fn write_attributes(values: &mut DBusWriter, id: &KeyId) {
    values.write_list(8, |values| {
        for (name, value) in [("application", "mcparley"), ("vault-key", id.as_str())] {
            values.pad_to(8).write_text(name).write_text(value);
        }
    });
}

fn write_properties(values: &mut DBusWriter, id: &KeyId) {
    values.write_list(8, |values| {
        values
            .pad_to(8)
            .write_text("org.freedesktop.Secret.Item.Label")
            .write_signature("s")
            .write_text("mcparley vault");
        values.pad_to(8).write_text("org.freedesktop.Secret.Item.Attributes").write_signature("a{ss}");
        write_attributes(values, id);
    });
}

#[cfg(test)]
mod tests;
