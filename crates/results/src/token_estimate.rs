//! Estimates the number of tokens that a text takes in a model's context.
//!
//! Every provider counts differently and none can be asked cheaply, so this is a rule of thumb, fast enough
//! for megabytes of text: four ASCII characters make a token, so do two letters of the alphabets with two
//! bytes per letter, and each character with more bytes is a token.

/// The estimated cost of a character, in quarters of a token.
fn quarter_tokens(character: char) -> usize {
    match character.len_utf8() {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// Estimates the number of tokens of a text.
pub(crate) fn estimate_tokens(text: &str) -> usize {
    // Counted by the first byte of every character, in blocks without a branch: results have megabytes.
    let block = |block: &[u8]| -> u32 {
        block
            .iter()
            .map(|&byte| u32::from(byte < 0x80) + 2 * u32::from(byte >= 0xc0) + 2 * u32::from(byte >= 0xe0))
            .sum()
    };
    let quarters: usize = text.as_bytes().chunks(4096).map(|bytes| block(bytes) as usize).sum();
    quarters.div_ceil(4)
}

/// The longest prefix of the text with an estimate of at most `limit` tokens.
pub(crate) fn prefix_within(text: &str, limit: usize) -> &str {
    let (mut left, mut end) = (limit.saturating_mul(4), 0);
    for character in text.chars() {
        let Some(rest) = left.checked_sub(quarter_tokens(character)) else { break };
        (left, end) = (rest, end + character.len_utf8());
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // R2
    #[test]
    fn token_estimate_depends_on_the_alphabet() {
        for (text, tokens) in
            [("", 0), ("a", 1), ("word", 1), ("words", 2), ("привет", 3), ("日本語", 3), ("😀", 1)]
        {
            assert_eq!(estimate_tokens(text), tokens, "{text}");
        }
        assert_eq!(estimate_tokens(&"a".repeat(100_000)), 25_000);
    }

    proptest! {
        // R2
        #[test]
        fn block_estimate_agrees_with_character_estimate(text in "\\PC*") {
            let sum: usize = text.chars().map(quarter_tokens).sum();
            prop_assert_eq!(estimate_tokens(&text), sum.div_ceil(4));
            prop_assert!(estimate_tokens(&text) <= text.len().div_ceil(3));
        }

        // R2
        #[test]
        fn prefix_is_as_long_as_the_limit_allows(text in "\\PC*", limit in 0usize..20) {
            let beginning = prefix_within(&text, limit);
            prop_assert!(estimate_tokens(beginning) <= limit);
            let next = text[beginning.len()..].chars().next();
            if let Some(next) = next {
                let longer = format!("{beginning}{next}");
                prop_assert!(estimate_tokens(&longer) > limit);
            }
        }
    }
}
