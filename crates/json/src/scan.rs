//! One pass over a result at its arrival, which validates it and notes everything that decides whether its
//! bytes can be forwarded as they are.
//!
//! A large result is not read again after this pass, unless a part of it has to be changed. Unusual forms
//! (repeated or escaped names, many members, line ends between values) are not scanned; they are parsed the
//! usual way.

use std::ops::Range;

use crate::plain::{ByteRange, JsonScan};
use mcparley_model::text::hidden_count;

/// The number of members of a result that are noted. Results have fewer; one with more is not scanned.
const MEMBERS: usize = 8;

/// The notes of one pass over a JSON object that is the result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultScan {
    members: [MemberSpan; MEMBERS],
    count: usize,
    /// Whether a string may have hidden characters, so that they have to be searched.
    pub may_hide: bool,
    /// Whether a key may name an address, such as `uri` and `resourceUri`.
    pub may_have_address: bool,
    /// The kinds of the blocks in `content`; `None` if the member is missing or no array.
    pub blocks: Option<BlockKinds>,
    /// The upper bound of the characters of all text, if all of it is ASCII.
    pub ascii_chars: Option<usize>,
}

/// The place of a member in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MemberSpan {
    /// Behind the quote before the name.
    name: u32,
    name_end: u32,
    value: u32,
    value_end: u32,
}

/// The kinds of the blocks in the content of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockKinds {
    /// Whether there is a valid text block.
    pub text: bool,
    /// Whether there is an image block.
    pub image: bool,
    /// Whether there is an audio block.
    pub audio: bool,
    /// Whether there is an embedded resource.
    pub resource: bool,
    /// Whether there is a link to a resource.
    pub link: bool,
    /// Whether there is a block of another kind, or a text block without text.
    pub other: bool,
}

impl BlockKinds {
    /// Whether there are blocks, and all of them are valid text blocks.
    #[must_use]
    pub fn are_only_text(self) -> bool {
        self == Self { text: true, ..Self::default() }
    }
}

impl ResultScan {
    /// Scans a result. `None` if it is no object, not certainly valid JSON, or of an unusual form.
    #[must_use]
    pub fn of_result(bytes: &[u8]) -> Option<Self> {
        let range = ByteRange::of(bytes);
        if !range.is_text(bytes) {
            return None;
        }
        let mut scan = JsonScan::new(bytes);
        let mut members = [MemberSpan::default(); MEMBERS];
        let (mut count, mut blocks) = (0, None);
        (scan.next_nonblank_byte()? == b'{').then_some(())?;
        let mut is_open = !scan.consume_byte(b'}');
        while is_open {
            let member = scan_member(&mut scan, &mut blocks)?;
            let name = bytes.get(member.name_range())?;
            let is_repeated =
                members.iter().take(count).any(|other| bytes.get(other.name_range()) == Some(name));
            if is_repeated || name.contains(&b'\\') {
                return None;
            }
            *members.get_mut(count)? = member;
            count += 1;
            is_open = scan.scan_separator(b'}')?;
        }
        if scan.at != bytes.len() {
            return None;
        }
        let notes = scan.notes;
        let is_ascii = range.is_printable_ascii();
        // The bytes are UTF-8, as checked above.
        let may_hide = notes.may_hide
            || (!is_ascii && std::str::from_utf8(bytes).is_ok_and(|text| hidden_count(text) > 0));
        let is_plain_text = is_ascii && !notes.has_unicode_escape;
        Some(Self {
            members,
            count,
            may_hide,
            may_have_address: notes.may_have_address,
            blocks,
            ascii_chars: is_plain_text.then(|| bytes.len() - notes.escapes),
        })
    }

    /// The members in their order: the places of name and value. The name is between its quotes.
    pub fn members(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.members.iter().take(self.count).map(|member| (member.name_range(), member.value_range()))
    }

    /// The value of a member of the result that was scanned.
    #[must_use]
    pub fn member<'b>(&self, bytes: &'b [u8], name: &str) -> Option<&'b [u8]> {
        let (_, value) = self.members().find(|(key, _)| bytes.get(key.clone()) == Some(name.as_bytes()))?;
        bytes.get(value)
    }
}

impl MemberSpan {
    fn name_range(&self) -> Range<usize> {
        self.name as usize..self.name_end as usize
    }

    fn value_range(&self) -> Range<usize> {
        self.value as usize..self.value_end as usize
    }
}

/// Scans a name and its value; the blocks of `content` are noted.
fn scan_member(scan: &mut JsonScan<'_>, blocks: &mut Option<BlockKinds>) -> Option<MemberSpan> {
    let place = |at: usize| u32::try_from(at).ok();
    scan.skip_blanks();
    let name = scan.at + 1;
    let key = scan.scan_key()?;
    scan.skip_blanks();
    let value = scan.at;
    match key {
        b"content" if scan.consume_byte(b'[') => *blocks = Some(scan_blocks(scan)?),
        _ => scan.scan_value()?,
    }
    Some(MemberSpan {
        name: place(name)?,
        name_end: place(name + key.len())?,
        value: place(value)?,
        value_end: place(scan.at)?,
    })
}

/// Scans the rest of an array of blocks.
fn scan_blocks(scan: &mut JsonScan<'_>) -> Option<BlockKinds> {
    let mut kinds = BlockKinds::default();
    scan.skip_blanks();
    let mut is_open = !scan.consume_byte(b']');
    while is_open {
        scan.skip_blanks();
        match scan.consume_byte(b'{') {
            true => scan_block(scan, &mut kinds)?,
            false => {
                scan.scan_value()?;
                kinds.other = true;
            }
        }
        is_open = scan.scan_separator(b']')?;
    }
    Some(kinds)
}

/// Scans the rest of a block. `None` for repeated or escaped names: parsers differ on them.
fn scan_block(scan: &mut JsonScan<'_>, kinds: &mut BlockKinds) -> Option<()> {
    const NAMES: [&[u8]; 7] = [b"type", b"text", b"data", b"mimeType", b"uri", b"name", b"resource"];
    let (mut seen, mut kind, mut has_text) = ([false; NAMES.len()], None, false);
    scan.skip_blanks();
    let mut is_open = !scan.consume_byte(b'}');
    while is_open {
        let key = scan.scan_key()?;
        if let Some(was_seen) = NAMES.iter().position(|name| *name == key).and_then(|at| seen.get_mut(at)) {
            (!std::mem::replace(was_seen, true)).then_some(())?;
        } else if key.contains(&b'\\') {
            return None;
        }
        scan.skip_blanks();
        let value = scan.at;
        scan.scan_value()?;
        let value = scan.bytes.get(value..scan.at)?;
        match key {
            b"type" => kind = Some(value),
            b"text" => has_text = value.first() == Some(&b'"'),
            _ => {}
        }
        is_open = scan.scan_separator(b'}')?;
    }
    let kind = match kind {
        Some(br#""text""#) if has_text => &mut kinds.text,
        Some(br#""image""#) => &mut kinds.image,
        Some(br#""audio""#) => &mut kinds.audio,
        Some(br#""resource""#) => &mut kinds.resource,
        Some(br#""resource_link""#) => &mut kinds.link,
        Some(_) | None => &mut kinds.other,
    };
    *kind = true;
    Some(())
}

impl JsonScan<'_> {
    /// Scans a comma or the closing bracket. Returns whether it was the comma.
    fn scan_separator(&mut self, closing: u8) -> Option<bool> {
        match self.next_nonblank_byte()? {
            b',' => Some(true),
            byte if byte == closing => Some(false),
            _ => None,
        }
    }

    fn skip_blanks(&mut self) {
        while self.consume_byte(b' ') {}
    }
}

#[cfg(test)]
mod tests;
