//! Detects hidden characters: invisible to the user, yet interpreted by a terminal or a model.
//!
//! They are judged in context, because a joiner between two emoji is part of a picture and the same joiner
//! between two letters can hide text. Variation selectors likewise: one after an emoji chooses its style,
//! any other can carry a byte of a secret message.

/// A character and whether it is hidden.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedCharacter {
    /// The byte offset of the character.
    pub(super) offset: usize,
    /// The character.
    pub(super) character: char,
    /// Whether it is hidden.
    pub(super) hidden: bool,
}

/// All characters of `text` in order, each marked as hidden or not.
///
/// Whether a character is kept depends only on neighbors that are kept too, so cleaning is idempotent.
pub(super) fn mark_characters(text: &str) -> impl Iterator<Item = MarkedCharacter> + '_ {
    let mut characters = text.char_indices().peekable();
    let mut before = PrecedingCharacter::Other;
    std::iter::from_fn(move || {
        let (offset, character) = characters.next()?;
        let next = characters.peek().map(|(_, next)| *next);
        let hidden = is_hidden(before, character, next);
        before = PrecedingCharacter::after_character(character, hidden, before);
        Some(MarkedCharacter { offset, character, hidden })
    })
}

/// The hidden characters of `text` in order: those that [`mark_characters`] marks, found by skipping runs
/// of plain ones.
pub(super) fn hidden_characters(text: &str) -> impl Iterator<Item = MarkedCharacter> + '_ {
    let mut offset = 0;
    let mut before = PrecedingCharacter::Other;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(offset..)?;
            let quiet = quiet_character_length(rest);
            if quiet > 0 {
                offset += quiet;
                before = PrecedingCharacter::Other;
                continue;
            }
            let plain = plain_run_length(rest);
            if let Some(last) = plain.checked_sub(1).and_then(|last| rest.get(last)) {
                before = PrecedingCharacter::after_character(char::from(*last), false, before);
            }
            offset += plain;
            let mut characters = text.get(offset..)?.chars();
            let character = characters.next()?;
            let hidden = is_hidden(before, character, characters.next());
            before = PrecedingCharacter::after_character(character, hidden, before);
            let at = offset;
            offset += character.len_utf8();
            if hidden {
                return Some(MarkedCharacter { offset: at, character, hidden });
            }
        }
    })
}

/// The number of leading plain bytes: printable ASCII, newline and tab, which are never hidden.
///
/// Scans blocks without a branch per byte, which compilers turn into vector instructions.
fn plain_run_length(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if !bytes.first().is_some_and(is_plain) {
        return 0;
    }
    let whole = |block: &[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let (blocks, _) = bytes.as_chunks::<64>();
    let mut run = blocks.iter().take_while(|block| whole(*block)).count() * 64;
    let (blocks, _) = bytes.get(run..).unwrap_or_default().as_chunks::<8>();
    run += blocks.iter().take_while(|block| whole(*block)).count() * 8;
    run + bytes.get(run..).unwrap_or_default().iter().take_while(|byte| is_plain(byte)).count()
}

/// The length of the first character if it is neither hidden nor part of an emoji, judged by its first byte
/// alone.
///
/// Letters from `À` to Hebrew have two bytes, those from U+4000 up to the surrogates three: with them most
/// of the world's text is skipped without decoding it.
fn quiet_character_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(0xc3..=0xd7) => 2,
        Some(0xe4..=0xed) => 3,
        _ => 0,
    }
}

/// The class of the preceding character, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrecedingCharacter {
    /// An emoji.
    Emoji,
    /// An emoji and a variation selector for its style.
    Styled,
    /// A digit, `#` or `*`, which may become a keycap.
    KeycapBase,
    /// Any other character.
    Other,
}

impl PrecedingCharacter {
    fn after_character(character: char, hidden: bool, before: Self) -> Self {
        match character {
            '\u{fe0e}' | '\u{fe0f}' if !hidden && before == Self::Emoji => Self::Styled,
            '0'..='9' | '#' | '*' => Self::KeycapBase,
            _ if is_emoji(character) => Self::Emoji,
            _ => Self::Other,
        }
    }
}

fn is_hidden(before: PrecedingCharacter, character: char, next: Option<char>) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200d}' => {
            !(matches!(before, PrecedingCharacter::Emoji | PrecedingCharacter::Styled)
                && next.is_some_and(is_emoji))
        }
        '\u{fe0e}' | '\u{fe0f}' => match before {
            PrecedingCharacter::Emoji => false,
            PrecedingCharacter::KeycapBase => next != Some('\u{20e3}'),
            PrecedingCharacter::Styled | PrecedingCharacter::Other => true,
        },
        _ => is_always_hidden(character),
    }
}

/// Whether the character is hidden between some neighbors: a joiner or a selector, or always.
pub(super) fn can_be_hidden(character: char) -> bool {
    !matches!(character, '\n' | '\t') && is_always_hidden(character)
}

fn is_always_hidden(character: char) -> bool {
    matches!(character,
        // C0, delete and C1: they control the terminal.
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, Mongolian vowel separator, zero width, invisible operators, byte order mark.
        | '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        // Bidirectional marks, embeddings and overrides (the isolates are in the range above).
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        // Line and paragraph separator: a line break that some programs see and others do not.
        | '\u{2028}' | '\u{2029}'
        // Interlinear annotations: text beside the text.
        | '\u{fff9}'..='\u{fffb}'
        // Variation selectors: sixteen, and two hundred and forty more.
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
        // Tags: a whole invisible ASCII.
        | '\u{e0000}'..='\u{e007f}')
}

/// Whether a joiner or a selector beside the character can be part of an emoji.
///
/// Uses whole blocks instead of the Unicode table: a range that is too wide only keeps a joiner between two
/// symbols.
fn is_emoji(character: char) -> bool {
    matches!(character,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙'
        | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}'
        | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}')
}
