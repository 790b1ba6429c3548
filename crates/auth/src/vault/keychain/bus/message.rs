//! A question and its answer as the bus carries them.

use mcparley_model::limits;
use mcparley_model::text::Untrusted;
use zeroize::Zeroizing;

use super::{Reader, Writer};
use crate::vault::keeper::Why;

/// What tells how long the rest of a message is.
pub(super) const START_BYTES: usize = 16;

const LITTLE_ENDIAN: u8 = b'l';
const VERSION: u8 = 1;
const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;

/// The fields of a message's head that we write or read.
mod field {
    pub(super) const PATH: u8 = 1;
    pub(super) const INTERFACE: u8 = 2;
    pub(super) const MEMBER: u8 = 3;
    pub(super) const ERROR_NAME: u8 = 4;
    pub(super) const REPLY_SERIAL: u8 = 5;
    pub(super) const DESTINATION: u8 = 6;
    pub(super) const SIGNATURE: u8 = 8;
}

/// One question to an object on the bus.
pub(in crate::vault::keychain) struct Call {
    head: [(u8, String); 4],
    kind: &'static str,
    body: Writer,
}

/// The values of an answer.
pub(in crate::vault::keychain) struct Reply {
    bytes: Zeroizing<Vec<u8>>,
    body_at: usize,
    kind: String,
}

#[derive(Debug, Default)]
struct Head<'a> {
    error: Option<&'a str>,
    answers: Option<u32>,
    kind: &'a str,
}

impl Call {
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
        Self { head, kind: "", body: Writer::default() }
    }

    /// What goes along, of these kinds.
    pub(in crate::vault::keychain) fn with(
        mut self,
        kind: &'static str,
        fill: impl FnOnce(&mut Writer),
    ) -> Self {
        self.kind = kind;
        fill(&mut self.body);
        self
    }

    pub(super) fn print(self, serial: u32) -> Zeroizing<Vec<u8>> {
        let mut out = Writer::default();
        let body_bytes = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        out.byte(LITTLE_ENDIAN).byte(CALL).byte(0).byte(VERSION).u32(body_bytes).u32(serial);
        out.list(8, |out| {
            for (field, text) in &self.head {
                let kind = if *field == field::PATH { "o" } else { "s" };
                out.align(8).byte(*field).kind(kind).text(text);
            }
            if !self.kind.is_empty() {
                out.align(8).byte(field::SIGNATURE).kind("g").kind(self.kind);
            }
        });
        out.append(&self.body.into_bytes());
        out.into_bytes()
    }
}

impl Reply {
    /// The message in `bytes`: `None` if it makes no sense, `Some(None)` if it answers somebody else's question.
    pub(super) fn parse(bytes: Vec<u8>, serial: u32) -> Option<Option<Result<Self, Why>>> {
        let bytes = Zeroizing::new(bytes);
        let mut reader = Reader::new(&bytes);
        let (_, message) = (reader.byte()?, reader.byte()?);
        let _flags_and_version = (reader.byte()?, reader.byte()?);
        let _body_bytes_and_serial = (reader.u32()?, reader.u32()?);
        let head = Head::read(&mut reader)?;
        if head.answers != Some(serial) {
            return Some(None);
        }
        let (body_at, kind) = (reader.at(), head.kind.to_owned());
        match message {
            ERROR => Some(Some(Err(refusal(head.error?)))),
            RETURN => Some(Some(Ok(Self { body_at, kind, bytes: bytes.clone() }))),
            _ => None,
        }
    }

    /// The values, if they are of these kinds.
    pub(in crate::vault::keychain) fn values(&self, kind: &str) -> Result<Reader<'_>, Why> {
        match self.bytes.get(self.body_at..) {
            Some(body) if self.kind == kind => Ok(Reader::new(body)),
            Some(_) | None => Err(Why::Malformed),
        }
    }
}

impl<'a> Head<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let mut head = Self::default();
        let length = usize::try_from(reader.u32()?).ok()?;
        let end = reader.at().checked_add(length)?;
        while reader.at() < end {
            reader.align(8);
            let field = reader.byte()?;
            match (field, reader.kind()?) {
                (field::ERROR_NAME, "s") => head.error = Some(reader.text()?),
                (field::REPLY_SERIAL, "u") => head.answers = Some(reader.u32()?),
                (field::SIGNATURE, "g") => head.kind = reader.kind()?,
                (_, "s" | "o") => drop(reader.text()?),
                (_, "u") => drop(reader.u32()?),
                (_, "g") => drop(reader.kind()?),
                _ => return None,
            }
        }
        reader.align(8);
        Some(head)
    }
}

/// How many bytes follow the start of a message; `None` if it is none, or larger than any keychain's.
pub(super) fn rest_bytes(start: &[u8; START_BYTES]) -> Option<usize> {
    let mut reader = Reader::new(start);
    let is_ours = reader.byte()? == LITTLE_ENDIAN;
    let _kind_and_flags = (reader.byte()?, reader.byte()?);
    let is_known = reader.byte()? == VERSION;
    let body = usize::try_from(reader.u32()?).ok()?;
    let _serial = reader.u32()?;
    let head = usize::try_from(reader.u32()?).ok()?;
    let rest = head.checked_next_multiple_of(8)?.checked_add(body)?;
    (is_ours && is_known && rest <= limits::KEYCHAIN_MESSAGE_BYTES).then_some(rest)
}

/// What an error's name means; its text is for people and may say anything.
fn refusal(name: &str) -> Why {
    match name {
        "org.freedesktop.Secret.Error.IsLocked" => Why::Locked,
        "org.freedesktop.DBus.Error.ServiceUnknown" | "org.freedesktop.DBus.Error.NameHasNoOwner" => {
            Why::NotRunning
        }
        "org.freedesktop.DBus.Error.NoReply" | "org.freedesktop.DBus.Error.Timeout" => Why::NotRunning,
        _ => Why::Said(Untrusted::new(name.chars().take(limits::EXCERPT_CHARS).collect::<String>())),
    }
}
