//! Tests that the linear matcher agrees with the obvious slow one.

use proptest::prelude::*;

use super::Glob;

/// The meaning of the star, written down without regard to speed.
fn slowly(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skipped| slowly(rest, &text[skipped..])),
        [first, rest @ ..] => text.first() == Some(first) && slowly(rest, &text[1..]),
    }
}

#[test]
fn star_matches_any_characters() {
    // P3 C9
    for (pattern, text, expected) in [
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("a*", "a", true),
        ("*a", "ba", true),
        ("a*a", "a", false),
        ("a*b*c", "axxbyyc", true),
        ("a*b*c", "axxcyyb", false),
        ("**", "x", true),
        ("é*", "éé", true),
        ("?", "a", false),
    ] {
        assert_eq!(Glob::new(pattern).matches(text), expected, "`{pattern}` against `{text}`");
    }
}

#[test]
fn hostile_pattern_takes_linear_time() {
    // P3 C9: a backtracking matcher would not return within a lifetime.
    let pattern = Glob::new(&"a*".repeat(10_000));
    assert!(!pattern.matches(&format!("{}b", "a".repeat(9_999))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn glob_agrees_with_backtracking_matcher(pattern in "[ab*é]{0,8}", text in "[abé]{0,10}") {
        // P3 C9
        let slow = slowly(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
        prop_assert_eq!(Glob::new(&pattern).matches(&text), slow);
    }
}
