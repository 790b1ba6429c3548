//! The modules that a file names, by `crate::` or `super::`.

use crate::lint::sources::ModulePath;

/// The paths from the crate's root that `text` names; `own` is the module of the text. Groups are expanded
/// once: the first two segments of a path are all that a [`super::ModuleGraph`] needs.
pub(super) fn find_references(text: &str, own: &[String]) -> Vec<ModulePath> {
    let mut found = Vec::new();
    for keyword in ["crate::", "super::"] {
        for (at, _) in text.match_indices(keyword) {
            if text[..at].ends_with(|c: char| is_word(c) || c == ':') {
                continue;
            }
            let (base, rest) = resolve_base(&text[at..], own);
            found.extend(named_paths(rest).map(|path| [base, &path].concat()));
        }
    }
    found
}

/// Resolves the leading `crate::` or `super::super::` to a module, and returns the text after it.
fn resolve_base<'a>(text: &'a str, own: &'a [String]) -> (&'a [String], &'a str) {
    if let Some(rest) = text.strip_prefix("crate::") {
        return (&[], rest);
    }
    let (mut base, mut rest) = (own, text);
    while let Some(after) = rest.strip_prefix("super::") {
        base = base.split_last().map_or(&[], |(_, parents)| parents);
        rest = after;
    }
    (base, rest)
}

/// The paths at the start of `text`: one, or those of a group in braces.
fn named_paths(text: &str) -> impl Iterator<Item = ModulePath> {
    let paths = match text.strip_prefix('{') {
        Some(group) => group_items(group),
        None => vec![text],
    };
    paths.into_iter().map(|path| {
        let path = path.trim_start();
        let end = path.find(|c: char| !is_word(c) && c != ':').unwrap_or(path.len());
        path[..end].split("::").filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
    })
}

/// The items of a group after its opening brace, up to the closing one.
fn group_items(group: &str) -> Vec<&str> {
    let (mut items, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
