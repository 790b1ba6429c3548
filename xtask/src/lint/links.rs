//! Checks the links of the pages: each names a file of the repository, and a heading of that file. A link whose
//! text is the name of a function, such as a test, leads to a source file with that function.
//!
//! Links to other hosts are left alone, but for those to the files of this repository, which the READMEs of
//! packages need because they are read elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::error::ChoreError;
use crate::lint::tree;

/// Where the files of this repository are for readers of packages.
const REPOSITORY: &str = "https://github.com/mcparley/mcparley/blob/main/";

/// A link that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeadLink {
    /// The page, below the root.
    page: PathBuf,
    /// The line, counted from one.
    line: usize,
    target: String,
}

/// Fails if a link of a page below `root` leads nowhere.
pub(super) fn check_links(root: &Path) -> Result<(), ChoreError> {
    let mut pages = BTreeMap::new();
    for path in tree::find_files(root, "md")? {
        let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
        pages.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), text);
    }
    let defines = |path: &Path, function: &str| {
        let source = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        source.contains(&format!("fn {function}("))
    };
    let dead = find_dead_links(&pages, |path| root.join(path).exists(), defines);
    if dead.is_empty() { Ok(()) } else { Err(ChoreError::DeadLinks(dead)) }
}

/// The dead links of all pages; `exists` says whether there is a file or folder at a path below the root, and
/// `defines` whether a source file has a function of this name.
fn find_dead_links(
    pages: &BTreeMap<PathBuf, String>,
    exists: impl Fn(&Path) -> bool,
    defines: impl Fn(&Path, &str) -> bool,
) -> Vec<DeadLink> {
    let mut dead = Vec::new();
    for (page, text) in pages {
        for PageLink { line, text, target } in page_links(text) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let Some(path) = path_below_root(page, path) else { continue };
            let has_heading = || match pages.get(&path) {
                Some(text) => headings(text).any(|found| found == heading),
                // Line numbers of source files and the like.
                None => true,
            };
            let has_function = || function_name(text, target).is_none_or(|name| defines(&path, name));
            if !exists(&path) || !(heading.is_empty() || has_heading()) || !has_function() {
                dead.push(DeadLink { page: page.clone(), line, target: target.to_owned() });
            }
        }
    }
    dead
}

/// The file that a link of `page` names, below the root; `None` if it is on another host.
fn path_below_root(page: &Path, link: &str) -> Option<PathBuf> {
    if link.is_empty() {
        return Some(page.to_owned());
    }
    if let Some(path) = link.strip_prefix(REPOSITORY) {
        return Some(PathBuf::from(path));
    }
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let mut path = PathBuf::new();
    for part in page.parent().unwrap_or(page).join(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    Some(path)
}

/// The lines of a page that are not code, with their numbers.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// A link as it stands in a page.
struct PageLink<'p> {
    /// The line, counted from one.
    line: usize,
    text: &'p str,
    target: &'p str,
}

/// The links of a page.
fn page_links(page: &str) -> impl Iterator<Item = PageLink<'_>> {
    prose_lines(page).flat_map(|(number, line)| {
        line.match_indices("](").filter_map(move |(middle, mark)| {
            let text = line[..middle].rsplit('[').next()?;
            let (target, _) = line[middle + mark.len()..].split_once(')')?;
            let is_target = !target.contains(char::is_whitespace);
            is_target.then_some(PageLink { line: number, text, target })
        })
    })
}

/// The function that a link names: its text is several words in one name, and its target is a source file.
fn function_name<'p>(text: &'p str, target: &str) -> Option<&'p str> {
    let name = text.strip_prefix('`')?.strip_suffix('`')?;
    let is_name = name.contains('_') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && target.ends_with(".rs")).then_some(name)
}

/// The names by which links find the headings of a page: in lower case, with hyphens for spaces, without
/// punctuation. The second heading of a name ends with `-1`.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let titles = prose_lines(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' ')).flatten()
    });
    titles.map(move |title| {
        let name = heading_name(title);
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
    })
}

fn heading_name(title: &str) -> String {
    // Of a link, the text alone is a part of the name.
    let text: String = title.split("](").enumerate().fold(String::new(), |text, (index, part)| {
        text + if index == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) }
    });
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

impl fmt::Display for DeadLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: `{}` leads nowhere", self.page.display(), self.line, self.target)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{find_dead_links, headings};

    fn dead_targets(text: &str) -> Vec<String> {
        let other = "# Other page\n## `serve` & *more*: a [link](x.md)\n## Twice\n## Twice\n```sh\n# not a heading\n```\n";
        let pages = [("docs/a/page.md", text), ("docs/other.md", other)];
        let pages: BTreeMap<_, _> =
            pages.map(|(path, text)| (PathBuf::from(path), text.to_owned())).into_iter().collect();
        let exists = |path: &Path| pages.contains_key(path) || path == Path::new("src/lib.rs");
        let defines = |_: &Path, function: &str| function == "limits_hold";
        let dead = find_dead_links(&pages, exists, defines).into_iter().filter(|link| link.target != "x.md");
        dead.map(|link| link.target).collect()
    }

    #[test]
    fn links_to_files_and_headings_of_the_repository_are_found() {
        let good = "# Page\n[a](../other.md) [b](../other.md#twice-1) [c](#page) [d](../../src/lib.rs#L3)\n[e](https://example.com/x)\n[f](https://github.com/mcparley/mcparley/blob/main/docs/other.md)\n```md\n[g](none.md)\n```\n";
        assert!(dead_targets(good).is_empty());
        let bad = "[a](none.md) [b](../other.md#not-a-heading)\n[c](#none) [d](https://github.com/mcparley/mcparley/blob/main/none.md)\n";
        let expected = ["none.md", "../other.md#not-a-heading", "#none"];
        assert_eq!(dead_targets(bad)[..3], expected);
        assert_eq!(dead_targets(bad).len(), 4);
    }

    #[test]
    fn link_that_names_a_function_leads_to_a_file_that_has_it() {
        assert!(dead_targets("[`limits_hold`](../../src/lib.rs) [`lib.rs`](../../src/lib.rs)\n").is_empty());
        assert_eq!(dead_targets("[`limits_do_not`](../../src/lib.rs)\n"), ["../../src/lib.rs"]);
    }

    #[test]
    fn heading_is_named_as_on_the_web_page_of_the_repository() {
        let page = "## `serve` & *more*: a [link](x.md)\n### Several gateways\n";
        assert_eq!(headings(page).collect::<Vec<_>>(), ["serve--more-a-link", "several-gateways"]);
    }
}
