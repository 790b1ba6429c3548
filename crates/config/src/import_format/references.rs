//! Finds variable references in a text, in the syntax of each app.
//!
//! Their meaning is decided in [`super::variables`].

use super::variables::is_variable_name;

/// A syntax for variable references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceStyle {
    /// No references.
    Literal,
    /// `${env:NAME}`
    Env,
    /// `${env:NAME}` and `${file:PATH}`
    EnvAndFile,
    /// `${env:NAME}`, `${input:ID}` and the variables that editors predefine.
    Editor,
    /// `{env:NAME}` and `{file:PATH}`
    Braces,
    /// `$NAME` and `${NAME}`
    Shell,
}

/// A variable reference and the text around it.
pub(super) struct VariableReference<'t> {
    pub(super) before: &'t str,
    /// The reference with its brackets.
    pub(super) whole: &'t str,
    /// The reference without its brackets.
    pub(super) inside: &'t str,
    pub(super) after: &'t str,
}

impl ReferenceStyle {
    /// The first reference in `text`, in the syntax of the app.
    pub(super) fn next_reference(self, text: &str) -> Option<VariableReference<'_>> {
        match self {
            Self::Literal => None,
            Self::Env | Self::EnvAndFile | Self::Editor => parse_bracketed(text, text.find("${")?, 2),
            Self::Braces => {
                let start = ["{env:", "{file:"].iter().filter_map(|opening| text.find(opening)).min()?;
                parse_bracketed(text, start, 1)
            }
            Self::Shell => {
                let starts = text.match_indices('$').map(|(start, _)| start);
                starts.into_iter().find_map(|start| parse_bracketed_or_bare(text, start))
            }
        }
    }
}

/// Parses the reference that begins at `start` with an opening of `opening` bytes and ends at the next `}`.
fn parse_bracketed(text: &str, start: usize, opening: usize) -> Option<VariableReference<'_>> {
    let inside_start = start.checked_add(opening)?;
    let end = inside_start.checked_add(text.get(inside_start..)?.find('}')?)?;
    slice_reference(text, start, inside_start, end, end + 1)
}

fn parse_bracketed_or_bare(text: &str, start: usize) -> Option<VariableReference<'_>> {
    let name_start = start + 1;
    let rest = text.get(name_start..)?;
    if rest.starts_with('{') {
        return parse_bracketed(text, start, 2);
    }
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name_end = name_start + length;
    is_variable_name(text.get(name_start..name_end)?)
        .then(|| slice_reference(text, start, name_start, name_end, name_end))?
}

fn slice_reference(
    text: &str,
    start: usize,
    inside: usize,
    inside_end: usize,
    end: usize,
) -> Option<VariableReference<'_>> {
    Some(VariableReference {
        before: text.get(..start)?,
        whole: text.get(start..end)?,
        inside: text.get(inside..inside_end)?,
        after: text.get(end..)?,
    })
}
