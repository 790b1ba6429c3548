//! Tests that hidden characters never reach a terminal or a model, and that emoji do.

use std::borrow::Cow;

use proptest::prelude::*;

use super::{
    TRUNCATED, Untrusted, clean_json, clean_text, display_argv, display_block, display_line, hidden,
    hidden_count, into_clean_text, truncate_text,
};

#[test]
fn terminal_commands_become_visible() {
    // B40 H10
    for (text, shown) in [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
        ("\x1b]8;;http://x\x1b\\", "\\x1b]8;;http://x\\x1b\\"),
        ("\x1bPq", "\\x1bPq"),
        ("\u{9b}2J", "\\u{9b}2J"),
        ("safe\rrm", "safe\\rrm"),
        ("a\x08b", "a\\x08b"),
        ("a\x7fb", "a\\x7fb"),
        ("a\0b", "a\\x00b"),
        ("a\nb\tc", "a\\nb\\tc"),
    ] {
        assert_eq!(display_line(text), shown);
    }
}

#[test]
fn a_block_keeps_its_lines() {
    // B40
    assert_eq!(display_block("a\n\tb\x1b"), "a\n\tb\\x1b");
}

#[test]
fn hidden_characters_are_escaped_for_users_and_removed_for_models() {
    // B41 B42 N7 H11
    for (text, shown, cleaned) in [
        ("a\u{202e}b", "a\\u{202e}b", "ab"),
        ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}", "ab"),
        ("a\u{61c}\u{200e}\u{200f}", "a\\u{61c}\\u{200e}\\u{200f}", "a"),
        ("pass\u{200b}word", "pass\\u{200b}word", "password"),
        ("\u{feff}a\u{ad}b", "\\u{feff}a\\u{ad}b", "ab"),
        ("x\u{e0041}\u{e007f}", "x\\u{e0041}\\u{e007f}", "x"),
        ("x\u{fe01}\u{e0100}", "x\\u{fe01}\\u{e0100}", "x"),
        ("a\u{200d}b", "a\\u{200d}b", "ab"),
        ("😀\u{200d}a", "😀\\u{200d}a", "😀a"),
        ("a\u{2028}b", "a\\u{2028}b", "ab"),
        ("😀\u{fe0f}\u{fe0f}", "😀\u{fe0f}\\u{fe0f}", "😀\u{fe0f}"),
    ] {
        assert_eq!((display_line(text), clean_text(text)), (shown.into(), cleaned.into()));
        assert_eq!(hidden_count(text), text.chars().count() - cleaned.chars().count());
    }
    assert_eq!(clean_text("a\r\nb\tc\x1b[0m"), "a\nb\tc[0m");
}

#[test]
fn joined_emoji_stay_whole() {
    // B42
    for text in ["👩‍👩‍👧", "❤️‍🔥", "🏳️‍🌈", "1️⃣", "👍🏽", "☺️ naïve Ωμέγα 中文 עברית"]
    {
        assert!(matches!(display_line(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(clean_text(text), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn the_strings_of_json_are_cleaned_and_the_rest_is_left() {
    // N7 B41 B42 B43
    for same in ["{ \"a\" : 1.0,\r\n\"b\":\"\\n\\u00e9\" }", "[\"👩‍👩‍👧\"]", "\"a\\\\r\"", "1e400"]
    {
        assert!(matches!(clean_json(same), Cow::Borrowed(_)), "{same}");
    }
    for (json, cleaned) in [
        ("{\"a\u{200b}\": [\"x\u{e0041}\"], \"b\": 1}", "{\"a\":[\"x\"],\"b\":1}"),
        ("[\"\\u202ea\\u001b[2J\\r\"]", "[\"a[2J\"]"),
        ("[\"\\udb40\\udc41a\"]", "[\"a\"]"),
        ("no json\u{202e}", "no json"),
    ] {
        assert_eq!(clean_json(json), cleaned);
    }
}

#[test]
fn text_without_hidden_characters_is_not_copied() {
    // N7
    let text = String::from("naïve\n");
    let place = text.as_ptr();
    let cleaned = into_clean_text(Cow::Owned(text));
    assert_eq!((cleaned.as_str(), cleaned.as_ptr()), ("naïve\n", place));
    assert_eq!(into_clean_text(Cow::Borrowed("a\u{200b}b")), "ab");
}

#[test]
fn a_command_line_hides_nothing() {
    // B45
    let padded = format!("echo{}; rm -rf /\n", " ".repeat(200));
    let shown = display_argv(["sh", "-c", &padded, ""]);
    assert_eq!(shown, format!("sh\n-c\n\"echo{}; rm -rf /\\n\"\n\"\"", " ".repeat(200)));
}

#[test]
fn a_long_text_is_cut_between_graphemes() {
    // N6 B39
    assert_eq!(truncate_text("short", 5), "short");
    assert_eq!(truncate_text("shorts", 5), format!("short{TRUNCATED}"));
    assert_eq!(truncate_text("é👩‍👩‍👧x", 4), format!("é{TRUNCATED}"));
    assert_eq!(truncate_text("ae\u{301}x", 2), format!("a{TRUNCATED}"));
    assert_eq!(truncate_text("a\r\nb", 2), format!("a{TRUNCATED}"));
    assert_eq!(truncate_text("é".repeat(2048).as_str(), 2048), "é".repeat(2048));
    assert_eq!(
        truncate_text("é".repeat(30_000).as_str(), 2048).chars().count(),
        2048 + TRUNCATED.chars().count()
    );
    assert_eq!(truncate_text(&format!("a{}", "\u{301}".repeat(50)), 3), TRUNCATED);
    assert_eq!(truncate_text("", 0), "");
}

#[test]
fn untrusted_text_is_escaped_even_in_debug_output() {
    // B40 N7
    let text = Untrusted::new("a\x1b[2J\u{202e}");
    assert_eq!(format!("{text:?}"), "Untrusted(\"a\\x1b[2J\\u{202e}\")");
    assert_eq!((text.display_line(), text.clean_text()), ("a\\x1b[2J\\u{202e}".into(), "a[2J".into()));
    assert_eq!(text.raw(), "a\x1b[2J\u{202e}");
}

/// Text with many of the characters that matter, close together.
fn tricky() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        3 => any::<char>(),
        1 => prop::char::range('\u{80}', '\u{7ff}'),
        1 => prop::char::range('\u{2000}', '\u{ffff}'),
        2 => prop::sample::select(vec!['a', '1', '\n', '\t', '\r', '\x1b', '\u{9b}', '\u{20e3}', '😀', '❤']),
        2 => prop::sample::select(vec!['\u{200d}', '\u{fe0f}', '\u{fe0e}', '\u{202e}', '\u{e0041}', '\u{e0101}']),
    ];
    prop::collection::vec(character, 0..24).prop_map(|characters| characters.into_iter().collect())
}

/// Whether `text` has a character that must never be displayed; joiners and selectors are left to the tables.
fn betrays(text: &str) -> bool {
    text.chars().any(|character| {
        let code = u32::from(character);
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || [0xad, 0x61c, 0x200b, 0x200c, 0x200e, 0x200f, 0xfeff].contains(&code)
            || [0x202a..=0x202e, 0x2060..=0x2064, 0x2066..=0x2069, 0xe_0000..=0xe_007f, 0xe_0100..=0xe_01ef]
                .iter()
                .any(|range| range.contains(&code))
    })
}

/// Text like [`tricky`], between plain runs of about the length of a block.
fn sparse() -> impl Strategy<Value = String> {
    prop::collection::vec(("[ -~\n\t]{0,140}", tricky()), 0..4)
        .prop_map(|parts| parts.into_iter().map(|(plain, odd)| plain + &odd).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn block_scan_agrees_with_character_scan(text in prop_oneof![tricky(), sparse()]) {
        // N7 B41 B42
        let singly = hidden::mark_characters(&text).filter(|at| at.hidden).map(|at| (at.offset, at.character));
        let by_blocks = hidden::hidden_characters(&text).map(|at| (at.offset, at.character));
        prop_assert_eq!(by_blocks.collect::<Vec<_>>(), singly.collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_hidden_character_gets_through(text in tricky()) {
        // B40 B41 B42
        let (line, block, cleaned) = (display_line(&text), display_block(&text), clean_text(&text));
        prop_assert!(!betrays(&line) && !line.contains(['\n', '\t']));
        prop_assert!(!betrays(&block));
        prop_assert!(!betrays(&cleaned));
        prop_assert_eq!(hidden_count(&cleaned), 0);
    }

    #[test]
    fn sanitizing_is_idempotent(text in tricky()) {
        // B40 B41 B42
        let once = display_line(&text);
        prop_assert_eq!(display_line(&once), once.as_ref());
        let once = display_block(&text);
        prop_assert_eq!(display_block(&once), once.as_ref());
        let once = clean_text(&text);
        prop_assert_eq!(clean_text(&once), once.as_ref());
    }

    #[test]
    fn a_cut_text_is_a_prefix_within_the_limit(text in tricky(), limit in 0_usize..20) {
        // N6 B39
        let result = truncate_text(&text, limit);
        if text.chars().count() <= limit {
            prop_assert_eq!(result, text.as_str());
        } else {
            let kept = result.strip_suffix(TRUNCATED).unwrap();
            prop_assert!(text.starts_with(kept) && kept.chars().count() <= limit);
        }
    }
}
