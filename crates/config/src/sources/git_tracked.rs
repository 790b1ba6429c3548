//! Checks whether git tracks a file, so that a file is reported as excluded from commits only if it is.
//!
//! Reads git's index itself: a program found in `PATH` must not run inside an untrusted folder. An index that
//! cannot be parsed counts as tracking the file. Files of a folder need approval either way.

use std::path::{Path, PathBuf};

use mcparley_platform::file as platform_file;

/// Size limit of the index. A monorepo of a million files has an index of some hundred megabytes.
const INDEX_BYTES: u64 = 512 * 1024 * 1024;
const HEADER: usize = 12;
/// Size of the times, device, inode, mode, owner and size, before the object's name.
const STAT: usize = 40;
/// The lengths of an object's name. Only the repository's configuration says which one applies, so both are
/// tried.
const HASHES: [usize; 2] = [20, 32];

/// Whether git tracks `path` (with `/`) in the working tree at `root`.
pub(crate) fn is_tracked(root: &Path, path: &str) -> bool {
    let Some(git) = git_dir(root) else { return false };
    match platform_file::read_bytes(&git.join("index"), INDEX_BYTES) {
        Ok(Some(index)) => {
            let readings: Vec<bool> =
                HASHES.into_iter().filter_map(|hash| index_lists(&index, path.as_bytes(), hash)).collect();
            readings.is_empty() || readings.contains(&true)
        }
        Ok(None) => false,
        Err(_) => true,
    }
}

/// The git directory: `.git`, or the target of a file of that name (worktrees and submodules).
pub(crate) fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let pointer = platform_file::read_text(&dot_git, 4096).ok().flatten()?;
    let target = pointer.text.strip_prefix("gitdir:")?.trim();
    Some(root.join(target))
}

/// Whether an index lists `path` or a folder above it; `None` if the format of the index is unknown.
fn index_lists(index: &[u8], path: &[u8], hash: usize) -> Option<bool> {
    let header = index.get(..HEADER)?;
    if header.get(..4)? != b"DIRC" {
        return None;
    }
    let version = parse_u32(header.get(4..8)?)?;
    let count = parse_u32(header.get(8..12)?)?;
    let mut rest = index.get(HEADER..)?;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let size = match version {
            2 | 3 => plain_entry(rest, start_of_name(rest, version, hash)?, &mut name)?,
            4 => compressed_entry(rest, start_of_name(rest, version, hash)?, &mut name)?,
            _ => return None,
        };
        if leads_to(&name, path) {
            return Some(true);
        }
        rest = rest.get(size..)?;
    }
    is_whole(rest, hash).then_some(false)
}

/// Whether an entry is `path` or a folder above it: a link or a submodule is listed under its own name only.
///
/// The comparison ignores case, because some file systems do too.
fn leads_to(name: &[u8], path: &[u8]) -> bool {
    let folder = name.strip_suffix(b"/").unwrap_or(name);
    let Some((head, rest)) = path.split_at_checked(folder.len()) else { return false };
    head.eq_ignore_ascii_case(folder) && matches!(rest.first(), None | Some(b'/'))
}

/// Whether only extensions and a checksum follow the entries, and no other file contains further entries.
fn is_whole(mut rest: &[u8], hash: usize) -> bool {
    while rest.len() > hash {
        let size = rest.get(4..8).and_then(parse_u32).and_then(|size| usize::try_from(size).ok());
        let next = size.and_then(|size| rest.get(8..)?.get(size..));
        match next {
            // A split index keeps most names in another file.
            Some(next) if !rest.starts_with(b"link") => rest = next,
            Some(_) | None => return false,
        }
    }
    rest.len() == hash
}

/// Parses an entry of version 2 or 3: the whole name, padded with NUL to a multiple of eight. Returns its
/// size.
fn plain_entry(entry: &[u8], start: usize, name: &mut Vec<u8>) -> Option<usize> {
    let length = entry.get(start..)?.iter().position(|byte| *byte == 0)?;
    name.clear();
    name.extend_from_slice(entry.get(start..start + length)?);
    Some((start + length + 8) & !7)
}

/// Parses an entry of version 4: the length to drop from the previous name, then a suffix. Returns its size.
fn compressed_entry(entry: &[u8], start: usize, name: &mut Vec<u8>) -> Option<usize> {
    let (dropped, used) = decode_offset(entry.get(start..)?)?;
    let suffix = start + used;
    let length = entry.get(suffix..)?.iter().position(|byte| *byte == 0)?;
    name.truncate(name.len().checked_sub(dropped)?);
    name.extend_from_slice(entry.get(suffix..suffix + length)?);
    Some(suffix + length + 1)
}

fn start_of_name(entry: &[u8], version: u32, hash: usize) -> Option<usize> {
    let flags = entry.get(STAT + hash..STAT + hash + 2)?;
    let is_extended = version >= 3 && flags.first()? & 0x40 != 0;
    Some(STAT + hash + if is_extended { 4 } else { 2 })
}

/// Decodes git's offset encoding: seven bits per byte, and one added for every byte that follows.
fn decode_offset(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
        value += 1;
    }
    None
}

fn parse_u32(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}
