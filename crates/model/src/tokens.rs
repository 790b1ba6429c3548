//! Estimates how many tokens a result takes up in a model's window.
//!
//! Every provider counts differently and none can be asked in passing, so this is a rule of thumb, quick enough for texts of
//! megabytes. Four characters of ASCII make a token, two letters of the other alphabets that take two bytes,
//! and each of those that take more.

/// What a character costs, in quarters of a token.
fn quarters(character: char) -> usize {
    match character.len_utf8() {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// About how many tokens the text takes up.
#[must_use]
pub fn estimate(text: &str) -> usize {
    // By the first byte of every character, in blocks without a branch: results have megabytes.
    let block = |block: &[u8]| -> u32 {
        block
            .iter()
            .map(|&byte| u32::from(byte < 0x80) + 2 * u32::from(byte >= 0xc0) + 2 * u32::from(byte >= 0xe0))
            .sum()
    };
    let quarters: usize = text.as_bytes().chunks(4096).map(|bytes| block(bytes) as usize).sum();
    quarters.div_ceil(4)
}

/// The most tokens any text of so many bytes can be estimated at, for those who need not know better.
#[must_use]
pub fn most(bytes: usize) -> usize {
    bytes.div_ceil(3)
}

/// The longest beginning of the text that is estimated at no more than `limit` tokens.
#[must_use]
pub fn beginning(text: &str, limit: usize) -> &str {
    let (mut left, mut end) = (limit.saturating_mul(4), 0);
    for character in text.chars() {
        let Some(rest) = left.checked_sub(quarters(character)) else { break };
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
    fn a_text_costs_by_its_alphabet() {
        for (text, tokens) in
            [("", 0), ("a", 1), ("word", 1), ("words", 2), ("привет", 3), ("日本語", 3), ("😀", 1)]
        {
            assert_eq!(estimate(text), tokens, "{text}");
        }
        assert_eq!(estimate(&"a".repeat(100_000)), 25_000);
    }

    proptest! {
        // R2
        #[test]
        fn the_quick_sum_is_the_sum_of_the_characters(text in "\\PC*") {
            let sum: usize = text.chars().map(quarters).sum();
            prop_assert_eq!(estimate(&text), sum.div_ceil(4));
            prop_assert!(estimate(&text) <= most(text.len()));
        }

        // R2
        #[test]
        fn a_beginning_is_as_long_as_the_limit_lets_it_be(text in "\\PC*", limit in 0usize..20) {
            let beginning = beginning(&text, limit);
            prop_assert!(estimate(beginning) <= limit);
            let next = text[beginning.len()..].chars().next();
            if let Some(next) = next {
                let longer = format!("{beginning}{next}");
                prop_assert!(estimate(&longer) > limit);
            }
        }
    }
}
