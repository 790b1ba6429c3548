//! Decides how a tool's public name may look: plain, or with a hash where plain is too long or taken.
//!
//! Pure text: which of these forms a tool gets is decided by [`super::catalogue`].

use sha2::{Digest as _, Sha256};

use super::{BETWEEN, PREFIX, ServerName, ToolName, normalise_server, normalise_tool};
use crate::limits::PUBLIC_NAME_LIMIT;

/// How many hexadecimal digits of the hash a name may carry, shortest first.
///
/// Eight are enough unless someone tries to collide; the last are beyond trying.
const HASH_DIGITS: [usize; 4] = [8, 16, 32, LONGEST_HASH];

const LONGEST_HASH: usize = 52;

/// A pair of server and tool with everything its hashed names are made from.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    server: String,
    tool: String,
    /// The hash of the original names, in hexadecimal digits.
    digest: String,
}

impl Identity {
    /// Normalises and hashes the pair.
    pub(crate) fn new(server: &ServerName, tool: &ToolName) -> Self {
        let lengths = [server.as_str(), tool.as_str()].map(|name| (name.len() as u64).to_le_bytes());
        let [server_length, tool_length] = &lengths;
        // With the lengths in front, no other pair has the same bytes to hash.
        let digest =
            digest(&[server_length, server.as_str().as_bytes(), tool_length, tool.as_str().as_bytes()]);
        Self { server: normalise_server(server), tool: normalise_tool(tool), digest }
    }

    /// The `step`th hashed name, from zero: first with ever more digits, then with ever other ones.
    ///
    /// There is always another, because a server may announce tools just to stand on the names of a tool
    /// that has yet to arrive.
    pub(crate) fn hashed(&self, step: usize) -> String {
        match HASH_DIGITS.get(step) {
            Some(digits) => self.with_hash(&self.digest, *digits),
            None => {
                let again = |hash: String, _| digest(&[hash.as_bytes()]);
                let hash = (HASH_DIGITS.len()..=step).fold(self.digest.clone(), again);
                self.with_hash(&hash, LONGEST_HASH)
            }
        }
    }

    /// The hash of the original names, in hexadecimal digits.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether `text` is this pair's name with some digits of its hash.
    pub(crate) fn is_hashed_as(&self, text: &str) -> bool {
        hash_digits(text).is_some_and(|digits| self.with_hash(&self.digest, digits) == text)
    }

    /// The tail of the tool's name, the head of the server's, and the beginning of the hash.
    ///
    /// Tools of one server differ at the end more often than at the beginning, and a model chooses by the
    /// tool; so the server keeps at most a third unless the tool leaves more.
    fn with_hash(&self, hash: &str, digits: usize) -> String {
        let room = PUBLIC_NAME_LIMIT.saturating_sub(PREFIX.len() + BETWEEN.len() + 1 + digits);
        let server_room = room.saturating_sub(self.tool.len()).max(room / 3).min(self.server.len());
        let tool_room = (room - server_room).min(self.tool.len());
        let server = self.server.get(..server_room).unwrap_or_default();
        let tool = self.tool.get(self.tool.len() - tool_room..).unwrap_or_default();
        [PREFIX, server, BETWEEN, tool, "_", hash.get(..digits).unwrap_or_default()].concat()
    }
}

/// The plain name, unless it is too long.
pub(super) fn plain(server: &ServerName, tool: &ToolName) -> Option<String> {
    // Every character of the tool's name stays one, so an endless one need not be normalised to know.
    if tool.as_str().chars().nth(PUBLIC_NAME_LIMIT).is_some() {
        return None;
    }
    let name = [PREFIX, &normalise_server(server), BETWEEN, &normalise_tool(tool)].concat();
    (name.len() <= PUBLIC_NAME_LIMIT).then_some(name)
}

/// Names of the host's own tools, which no tool of a server may have.
const RESERVED: [&str; 4] = ["ListMcpResources", "ReadMcpResource", "ReadResult", "ToolSearch"];

/// The tool's own name, unless it is empty, too long, the host's, or looks like a name with a prefix.
pub(super) fn bare(tool: &ToolName) -> Option<String> {
    let name = normalise_tool(tool);
    let fits = !name.is_empty() && name.len() <= PUBLIC_NAME_LIMIT;
    (fits && !name.starts_with(PREFIX) && !RESERVED.contains(&name.as_str())).then_some(name)
}

/// How many digits of a hash `text` seems to end with, if it looks like a hashed name.
pub(crate) fn hash_digits(text: &str) -> Option<usize> {
    let (_, hash) = text.rsplit_once('_')?;
    let is_hash = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hash && HASH_DIGITS.contains(&hash.len())).then_some(hash.len())
}

/// The hash of the parts, one after the other, in hexadecimal digits.
fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().map_or('0', char::from);
    let mut digits = String::with_capacity(64);
    for byte in hash.finalize() {
        digits.push(digit(byte >> 4));
        digits.push(digit(byte & 0xf));
    }
    digits
}
