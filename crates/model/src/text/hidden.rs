//! Decides which characters of a text are hidden: unseen by a person, yet read by a terminal or a model.
//!
//! Judged in context, because a joiner between two emoji is part of a picture and the same joiner between
//! two letters is a way to hide something. Variation selectors likewise: one after an emoji chooses its
//! look, any other can carry a byte of a secret message.

/// One character and what was decided about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked {
    /// Where the character begins, in bytes.
    pub(super) offset: usize,
    /// The character.
    pub(super) character: char,
    /// Whether it is hidden.
    pub(super) hidden: bool,
}

/// Every character of `text` in order, with the decision about it.
///
/// What is kept depends only on neighbours that are kept too, so cleaning twice changes nothing more.
pub(super) fn mark(text: &str) -> impl Iterator<Item = Marked> + '_ {
    let mut characters = text.char_indices().peekable();
    let mut before = Before::Other;
    std::iter::from_fn(move || {
        let (offset, character) = characters.next()?;
        let next = characters.peek().map(|(_, next)| *next);
        let hidden = is_hidden(before, character, next);
        before = Before::seen(character, hidden, before);
        Some(Marked { offset, character, hidden })
    })
}

/// The hidden characters of `text` in order: those [`mark`] marks, found without looking at plain ones singly.
pub(super) fn hidden(text: &str) -> impl Iterator<Item = Marked> + '_ {
    let mut offset = 0;
    let mut before = Before::Other;
    std::iter::from_fn(move || {
        loop {
            let rest = text.as_bytes().get(offset..)?;
            let quiet = quiet_character(rest);
            if quiet > 0 {
                offset += quiet;
                before = Before::Other;
                continue;
            }
            let plain = plain_run(rest);
            if let Some(last) = plain.checked_sub(1).and_then(|last| rest.get(last)) {
                before = Before::seen(char::from(*last), false, before);
            }
            offset += plain;
            let mut characters = text.get(offset..)?.chars();
            let character = characters.next()?;
            let hidden = is_hidden(before, character, characters.next());
            before = Before::seen(character, hidden, before);
            let at = offset;
            offset += character.len_utf8();
            if hidden {
                return Some(Marked { offset: at, character, hidden });
            }
        }
    })
}

/// How many plain bytes stand first: printable ASCII, newline and tab, which are never hidden.
///
/// Looks at blocks without a branch for each byte, which compilers turn into vector instructions.
fn plain_run(bytes: &[u8]) -> usize {
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

/// The length of the first character if it is neither hidden nor part of a picture, told by its first byte alone.
///
/// Letters from `À` to Hebrew have two bytes, those from U+4000 up to the surrogates three: with them most of the
/// world's text is passed over without decoding it.
fn quiet_character(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(0xc3..=0xd7) => 2,
        Some(0xe4..=0xed) => 3,
        _ => 0,
    }
}

/// What stands before a character, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// An emoji.
    Emoji,
    /// An emoji and a selector for its look.
    Styled,
    /// A digit, `#` or `*`, which may become a keycap.
    KeycapBase,
    /// Anything else.
    Other,
}

impl Before {
    fn seen(character: char, hidden: bool, before: Self) -> Self {
        match character {
            '\u{fe0e}' | '\u{fe0f}' if !hidden && before == Self::Emoji => Self::Styled,
            '0'..='9' | '#' | '*' => Self::KeycapBase,
            _ if is_emoji(character) => Self::Emoji,
            _ => Self::Other,
        }
    }
}

fn is_hidden(before: Before, character: char, next: Option<char>) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200d}' => !(matches!(before, Before::Emoji | Before::Styled) && next.is_some_and(is_emoji)),
        '\u{fe0e}' | '\u{fe0f}' => match before {
            Before::Emoji => false,
            Before::KeycapBase => next != Some('\u{20e3}'),
            Before::Styled | Before::Other => true,
        },
        _ => always_hidden(character),
    }
}

fn always_hidden(character: char) -> bool {
    matches!(character,
        // C0, delete and C1: they drive the terminal.
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, Mongolian vowel separator, zero width, invisible operators, byte order mark.
        | '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        // Bidirectional marks, embeddings and overrides (the isolates stand in the range above).
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        // Line and paragraph separator: a line break some programs see and others do not.
        | '\u{2028}' | '\u{2029}'
        // Interlinear annotations: text beside the text.
        | '\u{fff9}'..='\u{fffb}'
        // Variation selectors: sixteen, and two hundred and forty more.
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
        // Tags: a whole invisible ASCII.
        | '\u{e0000}'..='\u{e007f}')
}

/// Whether a joiner or a selector beside the character can be part of a picture.
///
/// Whole blocks instead of the Unicode table: too wide a circle only keeps a joiner between two symbols.
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
