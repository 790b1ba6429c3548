//! The reference for patterns in which `*` matches any characters: every position is tried.

/// Whether the pattern matches all of the text.
pub(crate) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // `reached[n]` says whether the pattern so far matches the first `n` characters.
    let mut reached = vec![false; text.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for wanted in pattern.chars() {
        reached = match wanted {
            '*' => {
                let mut any = false;
                let spread = |here: bool| {
                    any |= here;
                    any
                };
                reached.into_iter().map(spread).collect()
            }
            _ => {
                let after = reached.iter().zip(&text).map(|(before, found)| *before && *found == wanted);
                std::iter::once(false).chain(after).collect()
            }
        };
    }
    reached.last().copied().unwrap_or_default()
}
