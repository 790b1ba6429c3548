//! Oracle of text for a terminal or a model, and of the redaction of secrets.
//!
//! No output has a character that controls a terminal, reorders text or is invisible, and doing it twice is
//! doing it once. JSON keeps its value. A token of a known form is masked wherever it is a word of its own, and
//! a value of the configuration wherever it is.

use mcparley_model::config::{ServerConfig, StdioConfig, TransportConfig, mask_secrets};
use mcparley_model::secret::Secret;
use mcparley_model::text::{
    TRUNCATED, clean_text, display_argv, display_block, display_json, display_line, hidden_count, shell_word,
    truncate_text,
};
use mcparley_pool::redact::Redactor;
use serde_json::Value;

/// A token of a well-known form.
const CANARY: &str = "ghp_canary0CANARY1canary2CANARY3cana";

/// A value of a variable, which looks like nothing in particular.
const VALUE: &str = "correct horse battery";

/// Checks one text.
pub fn check_display(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_sanitizing(text);
    check_json(text);
    check_masking(text);
    check_redaction(text);
}

fn check_sanitizing(text: &str) {
    let (line, block, clean) = (display_line(text), display_block(text), clean_text(text));
    for shown in [&line, &block, &clean] {
        assert!(!shown.chars().any(is_forbidden), "{shown:?} from {text:?}");
    }
    assert!(!line.contains(['\n', '\t']));
    assert_eq!(display_line(&line), line);
    assert_eq!(display_block(&block), block);
    assert_eq!(clean_text(&clean), clean);
    assert_eq!(hidden_count(&clean), 0);
    assert!(!display_argv([text, "x"]).chars().any(is_forbidden));
    let cut = truncate_text(text, 20);
    assert!(cut.chars().count() <= 20 + TRUNCATED.chars().count());
    assert!(text.starts_with(cut.strip_suffix(TRUNCATED).unwrap_or(&cut)));
    check_shell_word(text);
}

/// Characters that no output may have; a joiner or a selector beside an emoji may be part of it.
fn is_forbidden(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    let code = u32::from(character);
    is_control
        || [0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff].contains(&code)
        || [0x202a..=0x202e, 0x2060..=0x206f, 0xfff9..=0xfffb, 0xe_0000..=0xe_007f, 0xe_0100..=0xe_01ef]
            .iter()
            .any(|range| range.contains(&code))
}

/// A quoted word is one word: outside of single quotes there is nothing that a shell reads otherwise.
fn check_shell_word(text: &str) {
    let word = shell_word(text);
    let mut is_quoted = false;
    let mut read = String::new();
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => read.extend(characters.next()),
            _ if is_quoted || character.is_ascii_alphanumeric() || "_-.:/@%+,".contains(character) => {
                read.push(character);
            }
            _ => unreachable!("`{character}` is not quoted in {word}"),
        }
    }
    assert!(!is_quoted);
    assert_eq!(read, text);
}

fn check_json(text: &str) {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let shown = display_json(text);
    assert!(!shown.chars().any(is_forbidden), "{shown:?}");
    assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(value), "{shown}");
}

fn check_masking(text: &str) {
    let masked = mask_secrets(text);
    assert_eq!(mask_secrets(&masked), masked, "{text:?}");
    let middle = text.char_indices().map(|(at, _)| at).find(|at| *at >= text.len() / 2).unwrap_or_default();
    let (before, after) = text.split_at(middle);
    // A word of its own, in every usual setting.
    for around in [" ", "\t", "\"", "'", "`", ",", ";", "(", "[", "{", ":", "=", "|", "<", ">", "\n"] {
        let line = [before, around, CANARY, around, after].concat();
        assert!(!mask_secrets(&line).contains(CANARY), "{line:?} is shown as {:?}", mask_secrets(&line));
    }
}

fn check_redaction(text: &str) {
    let env = [("A", VALUE), ("B", text)];
    let config = ServerConfig::new(TransportConfig::Stdio(StdioConfig {
        command: "x".to_owned(),
        args: Vec::new(),
        env: env.map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned()))).to_vec(),
        cwd: None,
        inherit_env: false,
    }));
    let redactor = Redactor::from_config(&config);
    let said = [text, VALUE, text, "\n", VALUE].concat();
    let redacted = redactor.redact(&said);
    assert!(!redacted.contains(VALUE), "{redacted:?}");
    if text.len() >= 8 && !"***".contains(text.trim_matches('*')) {
        assert!(!redacted.contains(text), "{redacted:?} has {text:?}");
    }
}
