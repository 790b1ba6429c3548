//! Choice of some numbered lines, typed as `1,3-5`, `all` or `none`.

use std::collections::BTreeSet;

/// Parses a choice among `count` lines, numbered from 1. The result has indexes from 0, in ascending order.
///
/// # Errors
/// The word that is no choice.
pub(super) fn parse_choice(text: &str, count: usize) -> Result<Vec<usize>, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "n" | "no" | "none" => return Ok(Vec::new()),
        "a" | "y" | "yes" | "all" => return Ok((0..count).collect()),
        _ => {}
    }
    let mut chosen = BTreeSet::new();
    for word in text.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let number =
            |text: &str| text.trim().parse::<usize>().ok().filter(|number| (1..=count).contains(number));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => chosen.extend(first - 1..last),
            (_, _) => return Err(word.to_owned()),
        }
    }
    Ok(chosen.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // C16 U2
    #[test]
    fn numbers_ranges_and_words_choose_lines() {
        let cases: [(&str, &[usize]); 9] = [
            ("2", &[1]),
            ("1,3-5", &[0, 2, 3, 4]),
            ("5, 1 3", &[0, 2, 4]),
            ("2-2,2", &[1]),
            ("all", &[0, 1, 2, 3, 4]),
            ("Y", &[0, 1, 2, 3, 4]),
            ("", &[]),
            ("none", &[]),
            ("n", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_choice(text, 5).unwrap(), expected, "{text}");
        }
    }

    // C16
    #[test]
    fn a_word_that_is_no_line_is_named() {
        for (text, word) in
            [("1,6", "6"), ("0", "0"), ("4-2", "4-2"), ("1,x", "x"), ("-", "-"), ("1-9", "1-9")]
        {
            assert_eq!(parse_choice(text, 5), Err(word.to_owned()), "{text}");
        }
    }
}
