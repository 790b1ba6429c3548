//! Finds references to variables in a text, in each of the ways apps write them.
//!
//! What a reference means is decided in [`super::variables`].

use super::variables::is_variable_name;

/// A way to refer to variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Not at all.
    Literal,
    /// `${env:NAME}`
    Env,
    /// `${env:NAME}` and `${file:PATH}`
    EnvAndFile,
    /// `${env:NAME}`, `${input:ID}` and the variables editors predefine.
    Editor,
    /// `{env:NAME}` and `{file:PATH}`
    Braces,
    /// `$NAME` and `${NAME}`
    Shell,
}

/// A reference and what surrounds it.
pub(super) struct Found<'t> {
    pub(super) before: &'t str,
    /// With its brackets.
    pub(super) whole: &'t str,
    /// Without them.
    pub(super) inside: &'t str,
    pub(super) after: &'t str,
}

impl Style {
    /// The first thing in `text` the app takes for a reference.
    pub(super) fn next_reference(self, text: &str) -> Option<Found<'_>> {
        match self {
            Self::Literal => None,
            Self::Env | Self::EnvAndFile | Self::Editor => bracketed(text, text.find("${")?, 2),
            Self::Braces => {
                let start = ["{env:", "{file:"].iter().filter_map(|opening| text.find(opening)).min()?;
                bracketed(text, start, 1)
            }
            Self::Shell => {
                let starts = text.match_indices('$').map(|(start, _)| start);
                starts.into_iter().find_map(|start| bracketed_or_bare(text, start))
            }
        }
    }
}

/// The reference that begins at `start` with an opening of `opening` bytes and ends at the next `}`.
fn bracketed(text: &str, start: usize, opening: usize) -> Option<Found<'_>> {
    let inside_start = start.checked_add(opening)?;
    let end = inside_start.checked_add(text.get(inside_start..)?.find('}')?)?;
    cut(text, start, inside_start, end, end + 1)
}

fn bracketed_or_bare(text: &str, start: usize) -> Option<Found<'_>> {
    let name_start = start + 1;
    let rest = text.get(name_start..)?;
    if rest.starts_with('{') {
        return bracketed(text, start, 2);
    }
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name_end = name_start + length;
    is_variable_name(text.get(name_start..name_end)?)
        .then(|| cut(text, start, name_start, name_end, name_end))?
}

fn cut(text: &str, start: usize, inside: usize, inside_end: usize, end: usize) -> Option<Found<'_>> {
    Some(Found {
        before: text.get(..start)?,
        whole: text.get(start..end)?,
        inside: text.get(inside..inside_end)?,
        after: text.get(end..)?,
    })
}
