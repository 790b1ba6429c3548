//! D-Bus messages: a method call and its reply.

use mcparley_model::limits;
use mcparley_model::text::Untrusted;
use zeroize::Zeroizing;

use super::{DBusReader, DBusWriter};
use crate::vault::key_location::KeyPlaceError;

/// The size of the fixed start of a message, which contains the length of the rest.
pub(super) const START_BYTES: usize = 16;

const LITTLE_ENDIAN: u8 = b'l';
const VERSION: u8 = 1;
const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;

/// The header fields that are written or read.
mod field {
    pub(super) const PATH: u8 = 1;
    pub(super) const INTERFACE: u8 = 2;
    pub(super) const MEMBER: u8 = 3;
    pub(super) const ERROR_NAME: u8 = 4;
    pub(super) const REPLY_SERIAL: u8 = 5;
    pub(super) const DESTINATION: u8 = 6;
    pub(super) const SIGNATURE: u8 = 8;
}

/// A method call to an object on the bus.
pub(in crate::vault::keychain) struct DBusCall {
    head: [(u8, String); 4],
    kind: &'static str,
    body: DBusWriter,
}

/// The values of a reply.
pub(in crate::vault::keychain) struct DBusReply {
    bytes: Zeroizing<Vec<u8>>,
    body_at: usize,
    kind: String,
}

#[derive(Debug, Default)]
struct DBusHeader<'a> {
    error: Option<&'a str>,
    answers: Option<u32>,
    kind: &'a str,
}

impl DBusCall {
    pub(in crate::vault::keychain) fn new(
        destination: &str,
        path: &str,
        interface: &str,
        member: &str,
    ) -> Self {
        let head = [
            (field::PATH, path.to_owned()),
            (field::INTERFACE, interface.to_owned()),
            (field::MEMBER, member.to_owned()),
            (field::DESTINATION, destination.to_owned()),
        ];
        Self { head, kind: "", body: DBusWriter::default() }
    }

    /// Adds arguments of this signature.
    pub(in crate::vault::keychain) fn with_arguments(
        mut self,
        kind: &'static str,
        fill: impl FnOnce(&mut DBusWriter),
    ) -> Self {
        self.kind = kind;
        fill(&mut self.body);
        self
    }

    pub(super) fn into_message(self, serial: u32) -> Zeroizing<Vec<u8>> {
        let mut out = DBusWriter::default();
        let body_bytes = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        out.write_byte(LITTLE_ENDIAN)
            .write_byte(CALL)
            .write_byte(0)
            .write_byte(VERSION)
            .write_u32(body_bytes)
            .write_u32(serial);
        out.write_list(8, |out| {
            for (field, text) in &self.head {
                let kind = if *field == field::PATH { "o" } else { "s" };
                out.pad_to(8).write_byte(*field).write_signature(kind).write_text(text);
            }
            if !self.kind.is_empty() {
                out.pad_to(8).write_byte(field::SIGNATURE).write_signature("g").write_signature(self.kind);
            }
        });
        out.append_body(&self.body.into_bytes());
        out.into_bytes()
    }
}

impl DBusReply {
    /// Parses the message in `bytes`: `None` if it is malformed, `Some(None)` if it is not the reply to
    /// `serial`.
    pub(super) fn parse(bytes: Vec<u8>, serial: u32) -> Option<Option<Result<Self, KeyPlaceError>>> {
        let bytes = Zeroizing::new(bytes);
        let mut reader = DBusReader::new(&bytes);
        let (_, message) = (reader.read_byte()?, reader.read_byte()?);
        let _flags_and_version = (reader.read_byte()?, reader.read_byte()?);
        let _body_bytes_and_serial = (reader.read_u32()?, reader.read_u32()?);
        let head = DBusHeader::parse(&mut reader)?;
        if head.answers != Some(serial) {
            return Some(None);
        }
        let (body_at, kind) = (reader.position(), head.kind.to_owned());
        match message {
            ERROR => Some(Some(Err(error_from_name(head.error?)))),
            RETURN => Some(Some(Ok(Self { body_at, kind, bytes: bytes.clone() }))),
            _ => None,
        }
    }

    /// The values, if they have this signature.
    pub(in crate::vault::keychain) fn values(&self, kind: &str) -> Result<DBusReader<'_>, KeyPlaceError> {
        match self.bytes.get(self.body_at..) {
            Some(body) if self.kind == kind => Ok(DBusReader::new(body)),
            Some(_) | None => Err(KeyPlaceError::Malformed),
        }
    }
}

impl<'a> DBusHeader<'a> {
    fn parse(reader: &mut DBusReader<'a>) -> Option<Self> {
        let mut head = Self::default();
        let length = usize::try_from(reader.read_u32()?).ok()?;
        let end = reader.position().checked_add(length)?;
        while reader.position() < end {
            reader.skip_padding(8);
            let field = reader.read_byte()?;
            match (field, reader.read_signature()?) {
                (field::ERROR_NAME, "s") => head.error = Some(reader.read_text()?),
                (field::REPLY_SERIAL, "u") => head.answers = Some(reader.read_u32()?),
                (field::SIGNATURE, "g") => head.kind = reader.read_signature()?,
                (_, "s" | "o") => drop(reader.read_text()?),
                (_, "u") => drop(reader.read_u32()?),
                (_, "g") => drop(reader.read_signature()?),
                _ => return None,
            }
        }
        reader.skip_padding(8);
        Some(head)
    }
}

/// The number of bytes after the start of a message; `None` if it is malformed, or larger than any
/// keychain's.
pub(super) fn rest_bytes(start: &[u8; START_BYTES]) -> Option<usize> {
    let mut reader = DBusReader::new(start);
    let is_ours = reader.read_byte()? == LITTLE_ENDIAN;
    let _kind_and_flags = (reader.read_byte()?, reader.read_byte()?);
    let is_known = reader.read_byte()? == VERSION;
    let body = usize::try_from(reader.read_u32()?).ok()?;
    let _serial = reader.read_u32()?;
    let head = usize::try_from(reader.read_u32()?).ok()?;
    let rest = head.checked_next_multiple_of(8)?.checked_add(body)?;
    (is_ours && is_known && rest <= limits::KEYCHAIN_MESSAGE_BYTES).then_some(rest)
}

/// Classifies an error by its name; its text is for display and has no defined form.
fn error_from_name(name: &str) -> KeyPlaceError {
    match name {
        "org.freedesktop.Secret.Error.IsLocked" => KeyPlaceError::Locked,
        "org.freedesktop.DBus.Error.ServiceUnknown" | "org.freedesktop.DBus.Error.NameHasNoOwner" => {
            KeyPlaceError::NotRunning
        }
        "org.freedesktop.DBus.Error.NoReply" | "org.freedesktop.DBus.Error.Timeout" => {
            KeyPlaceError::NotRunning
        }
        _ => KeyPlaceError::Reported(Untrusted::new(
            name.chars().take(limits::EXCERPT_CHARS).collect::<String>(),
        )),
    }
}
