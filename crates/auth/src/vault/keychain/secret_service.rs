//! The desktop's keychain: the Secret Service of freedesktop.org, on the session bus.
//!
//! A person is never asked for anything here: what is locked counts as locked. The key travels as plain text
//! over the bus's socket, which only this user's programs can open; any of them may ask for it anyway.

use std::time::Duration;

use super::Keychain;
use super::bus::{Bus, Call, Reply, Writer};
use crate::vault::cipher::{DataKey, KeyId};
use crate::vault::keeper::{Place, Why};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";

/// "No object": nothing is there, or nobody needs to be asked.
const NO_OBJECT: &str = "/";

/// The keychain behind a bus.
#[derive(Debug)]
pub(in crate::vault) struct SecretService {
    bus: Option<String>,
    limit: Duration,
}

/// A conversation with the service.
struct Session {
    bus: Bus,
    path: String,
}

impl SecretService {
    pub(in crate::vault) fn new(bus: Option<String>, limit: Duration) -> Self {
        Self { bus, limit }
    }

    fn open(&self) -> Result<Session, Why> {
        let address = self.bus.as_deref().ok_or(Why::NoBus)?;
        let mut bus = Bus::connect(address, self.limit)?;
        let plain = |values: &mut Writer| {
            values.text("plain").kind("s").text("");
        };
        let reply = bus.call(Call::new(NAME, ROOT, SERVICE, "OpenSession").with("sv", plain))?;
        let path = session_of(&reply)?;
        Ok(Session { bus, path })
    }
}

impl Keychain for SecretService {
    fn place(&self) -> Place {
        Place::SecretService
    }

    fn find(&self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        self.open()?.find(id)
    }

    fn keep(&self, fresh: &DataKey) -> Result<DataKey, Why> {
        let mut session = self.open()?;
        let collection = session.collection()?;
        session.unlock(&collection)?;
        session.create(&collection, fresh)?;
        session.find(&fresh.id())?.filter(|kept| kept.id() == fresh.id()).ok_or(Why::NotKept)
    }
}

impl Session {
    fn find(&mut self, id: &KeyId) -> Result<Option<DataKey>, Why> {
        let search =
            Call::new(NAME, ROOT, SERVICE, "SearchItems").with("a{ss}", |values| attributes(values, id));
        let reply = self.bus.call(search)?;
        let mut values = reply.values("aoao")?;
        let unlocked = values.paths().ok_or(Why::Malformed)?;
        let locked = values.paths().ok_or(Why::Malformed)?;
        match (unlocked.first(), locked.first()) {
            (Some(item), _) => self.secret(item),
            (None, Some(item)) => {
                self.unlock(item)?;
                self.secret(item)
            }
            (None, None) => Ok(None),
        }
    }

    fn secret(&mut self, item: &str) -> Result<Option<DataKey>, Why> {
        let session = self.path.clone();
        let ask = Call::new(NAME, item, ITEM, "GetSecret").with("o", |values| {
            values.text(&session);
        });
        let reply = self.bus.call(ask)?;
        let mut values = reply.values("(oayays)")?;
        let _session_and_parameters = (values.text(), values.octets());
        let value = values.octets().ok_or(Why::Malformed)?;
        Ok(std::str::from_utf8(value).ok().and_then(DataKey::from_base64))
    }

    /// The collection new secrets go to.
    fn collection(&mut self) -> Result<String, Why> {
        let ask = Call::new(NAME, ROOT, SERVICE, "ReadAlias").with("s", |values| {
            values.text("default");
        });
        let reply = self.bus.call(ask)?;
        match reply.values("o")?.text().ok_or(Why::Malformed)? {
            NO_OBJECT => Err(Why::NotLasting),
            path => Ok(path.to_owned()),
        }
    }

    /// Unlocks what needs no person for it.
    fn unlock(&mut self, object: &str) -> Result<(), Why> {
        let ask = Call::new(NAME, ROOT, SERVICE, "Unlock").with("ao", |values| {
            values.list(4, |values| {
                values.text(object);
            });
        });
        let reply = self.bus.call(ask)?;
        let mut values = reply.values("aoo")?;
        let unlocked = values.paths().ok_or(Why::Malformed)?;
        let prompt = values.text().ok_or(Why::Malformed)?;
        (prompt == NO_OBJECT && unlocked.contains(&object)).then_some(()).ok_or(Why::Locked)
    }

    fn create(&mut self, collection: &str, key: &DataKey) -> Result<(), Why> {
        let session = self.path.clone();
        let ask = Call::new(NAME, collection, COLLECTION, "CreateItem");
        let reply = self.bus.call(ask.with("a{sv}(oayays)b", |values| {
            properties(values, &key.id());
            values.align(8).text(&session).octets(&[]).octets(key.to_base64().as_bytes());
            values.text("text/plain; charset=utf8").boolean(true);
        }))?;
        let mut values = reply.values("oo")?;
        let (_item, prompt) = (values.text(), values.text().ok_or(Why::Malformed)?);
        (prompt == NO_OBJECT).then_some(()).ok_or(Why::Locked)
    }
}

fn session_of(reply: &Reply) -> Result<String, Why> {
    let mut values = reply.values("vo")?;
    // What is agreed upon for plain text is nothing, whatever its kind.
    match values.kind() {
        Some("s") => drop(values.text()),
        Some("ay") => drop(values.octets()),
        Some(_) | None => return Err(Why::Malformed),
    }
    values.text().map(str::to_owned).ok_or(Why::Malformed)
}

/// By what the item is found again.
fn attributes(values: &mut Writer, id: &KeyId) {
    values.list(8, |values| {
        for (name, value) in [("application", "mcparley"), ("vault-key", id.as_str())] {
            values.align(8).text(name).text(value);
        }
    });
}

fn properties(values: &mut Writer, id: &KeyId) {
    values.list(8, |values| {
        values.align(8).text("org.freedesktop.Secret.Item.Label").kind("s").text("mcparley vault");
        values.align(8).text("org.freedesktop.Secret.Item.Attributes").kind("a{ss}");
        attributes(values, id);
    });
}

#[cfg(test)]
mod tests;
