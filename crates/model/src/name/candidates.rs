//! Builds the possible public names of a tool: plain, or with a hash where the plain name is too long or
//! taken.
//!
//! Pure text: [`super::assign`] decides which of these names a tool gets.

use sha2::{Digest as _, Sha256};

use super::{BETWEEN, PREFIX, ServerName, ToolName, normalize_server, normalize_tool};
use crate::limits::PUBLIC_NAME_LIMIT;

/// The numbers of hexadecimal hash digits in a name, shortest first.
///
/// Eight are enough unless a server provokes collisions; the longest make that infeasible.
const HASH_DIGITS: [usize; 4] = [8, 16, 32, LONGEST_HASH];

const LONGEST_HASH: usize = 52;

/// The hash of a pair of server and tool, from which its hashed names are built.
#[derive(Clone, Debug)]
pub(crate) struct ToolNameHash {
    server: String,
    tool: String,
    /// The hash of the original names, in hexadecimal digits.
    digest: String,
}

impl ToolNameHash {
    /// Normalizes and hashes the pair.
    pub(crate) fn new(server: &ServerName, tool: &ToolName) -> Self {
        let lengths = [server.as_str(), tool.as_str()].map(|name| (name.len() as u64).to_le_bytes());
        let [server_length, tool_length] = &lengths;
        // With the lengths in front, no other pair has the same bytes to hash.
        let digest =
            hex_digest(&[server_length, server.as_str().as_bytes(), tool_length, tool.as_str().as_bytes()]);
        Self { server: normalize_server(server), tool: normalize_tool(tool), digest }
    }

    /// The `step`th hashed name, from zero: first with more and more digits, then with repeated hashes.
    ///
    /// There is always another one, because a server may announce tools only to occupy the names of a tool
    /// that has yet to arrive.
    pub(crate) fn hashed_name(&self, step: usize) -> String {
        match HASH_DIGITS.get(step) {
            Some(digits) => self.with_hash(&self.digest, *digits),
            None => {
                let again = |hash: String, _| hex_digest(&[hash.as_bytes()]);
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

    /// The end of the tool's name, the beginning of the server's, and the first digits of the hash.
    ///
    /// Tools of one server differ at the end more often than at the beginning, and a model chooses by the
    /// tool; so the server gets at most a third unless the tool leaves more.
    fn with_hash(&self, hash: &str, digits: usize) -> String {
        let room = PUBLIC_NAME_LIMIT.saturating_sub(PREFIX.len() + BETWEEN.len() + 1 + digits);
        let server_room = room.saturating_sub(self.tool.len()).max(room / 3).min(self.server.len());
        let tool_room = (room - server_room).min(self.tool.len());
        let server = self.server.get(..server_room).unwrap_or_default();
        let tool = self.tool.get(self.tool.len() - tool_room..).unwrap_or_default();
        [PREFIX, server, BETWEEN, tool, "_", hash.get(..digits).unwrap_or_default()].concat()
    }
}

/// The plain name `mcp__<server>__<tool>`, unless it is too long.
pub(super) fn plain_name(server: &ServerName, tool: &ToolName) -> Option<String> {
    // Normalization keeps the number of characters, so an overlong name need not be normalized to know.
    if tool.as_str().chars().nth(PUBLIC_NAME_LIMIT).is_some() {
        return None;
    }
    let name = [PREFIX, &normalize_server(server), BETWEEN, &normalize_tool(tool)].concat();
    (name.len() <= PUBLIC_NAME_LIMIT).then_some(name)
}

/// Names of the host's own tools, which no tool of a server may have.
const RESERVED: [&str; 4] = ["ListMcpResources", "ReadMcpResource", "ReadResult", "ToolSearch"];

/// The tool's own name, unless it is empty, too long, reserved for the host, or has the public prefix.
pub(super) fn bare_name(tool: &ToolName) -> Option<String> {
    let name = normalize_tool(tool);
    let fits = !name.is_empty() && name.len() <= PUBLIC_NAME_LIMIT;
    (fits && !name.starts_with(PREFIX) && !RESERVED.contains(&name.as_str())).then_some(name)
}

/// The number of hash digits at the end of `text`, if it looks like a hashed name.
pub(crate) fn hash_digits(text: &str) -> Option<usize> {
    let (_, hash) = text.rsplit_once('_')?;
    let is_hash = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_hash && HASH_DIGITS.contains(&hash.len())).then_some(hash.len())
}

/// The SHA-256 hash of the concatenated parts, in hexadecimal digits.
fn hex_digest(parts: &[&[u8]]) -> String {
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
