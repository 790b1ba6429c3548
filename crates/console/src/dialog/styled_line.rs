//! Lines of a dialog: text with tones, wrapped to the width of the terminal.

use mcparley::model::text::display_block;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The emphasis of a text. Without colors every tone is plain, so no meaning may depend on a tone alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tone {
    #[default]
    Plain,
    Bold,
    Dim,
    Warning,
    Error,
    Selected,
}

impl Tone {
    fn start_code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Warning => "\u{1b}[33m",
            Self::Error => "\u{1b}[31m",
            Self::Selected => "\u{1b}[1;36m",
        }
    }
}

/// One line of a dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StyledLine {
    spans: Vec<(Tone, String)>,
}

impl StyledLine {
    pub(super) fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self { spans: vec![(tone, text.into())] }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::new(Tone::Plain, text)
    }

    /// Appends a text.
    #[must_use]
    pub(super) fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.spans.push((tone, text.into()));
        self
    }

    /// Appends another line's text.
    #[must_use]
    pub(super) fn join(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self
    }

    /// The number of columns that the line takes.
    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// The text without tones.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The line for the terminal, with escape sequences if `colors`.
    pub(super) fn render(&self, colors: bool) -> String {
        let span = |(tone, text): &(Tone, String)| match tone.start_code() {
            "" => text.clone(),
            _ if !colors => text.clone(),
            start => format!("{start}{text}\u{1b}[0m"),
        };
        self.spans.iter().map(span).collect()
    }

    /// Breaks the line into lines of at most `width` columns, at spaces where there are any.
    pub(super) fn wrap(&self, width: usize) -> Vec<Self> {
        let width = width.max(1);
        if self.width() <= width {
            return vec![self.clone()];
        }
        let marked: Vec<(Tone, char)> =
            self.spans.iter().flat_map(|(tone, text)| text.chars().map(|each| (*tone, each))).collect();
        let mut lines = Vec::new();
        let mut rest = marked.as_slice();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(break_position(rest, width));
            lines.push(Self::from_marked(line));
            rest = after;
        }
        lines
    }

    /// Cuts the line to at most `width` columns.
    pub(super) fn cut(&self, width: usize) -> Self {
        match self.width() <= width {
            true => self.clone(),
            false => {
                let marked: Vec<(Tone, char)> = self
                    .spans
                    .iter()
                    .flat_map(|(tone, text)| text.chars().map(|each| (*tone, each)))
                    .collect();
                let fitting = fitting_count(&marked, width.saturating_sub(1));
                Self::from_marked(marked.get(..fitting).unwrap_or_default()).with(Tone::Plain, "…")
            }
        }
    }

    fn from_marked(marked: &[(Tone, char)]) -> Self {
        let mut spans: Vec<(Tone, String)> = Vec::new();
        for (tone, character) in marked {
            match spans.last_mut() {
                Some((last, text)) if last == tone => text.push(*character),
                Some(_) | None => spans.push((*tone, character.to_string())),
            }
        }
        Self { spans }
    }
}

/// The lines of an untrusted text, made safe for display.
pub(super) fn block_lines(tone: Tone, indent: &str, text: &str) -> Vec<StyledLine> {
    let shown = display_block(text).replace('\t', "    ");
    shown.lines().map(|line| StyledLine::new(tone, format!("{indent}{}", line.trim_end()))).collect()
}

/// The number of characters that fit into the width.
fn fitting_count(marked: &[(Tone, char)], width: usize) -> usize {
    let mut used = 0;
    let too_wide = |(_, character): &(Tone, char)| {
        used += character.width().unwrap_or(0);
        used > width
    };
    marked.iter().position(too_wide).unwrap_or(marked.len())
}

/// The position to break a line at: after the last space that fits, or where the width ends.
fn break_position(marked: &[(Tone, char)], width: usize) -> usize {
    let fitting = fitting_count(marked, width).max(1);
    if fitting == marked.len() {
        return fitting;
    }
    let head = marked.get(..fitting).unwrap_or_default();
    match head.iter().rposition(|(_, character)| *character == ' ') {
        // A space near the beginning would leave a line that is nearly empty.
        Some(space) if space > fitting / 2 => space + 1,
        Some(_) | None => fitting,
    }
}

#[cfg(test)]
mod tests {
    use super::{StyledLine, Tone};

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        StyledLine::plain(text).wrap(width).iter().map(StyledLine::text).collect()
    }

    // U4
    #[test]
    fn long_line_breaks_at_spaces_and_loses_nothing() {
        assert_eq!(wrapped("short", 10), ["short"]);
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"], "wide characters take two columns");
        assert_eq!(wrapped("", 4), [""]);
    }

    // U4
    #[test]
    fn tones_vanish_without_colors() {
        let line = StyledLine::plain("a ").with(Tone::Bold, "b");
        assert_eq!(line.render(false), "a b");
        assert_eq!(line.render(true), "a \u{1b}[1mb\u{1b}[0m");
        assert_eq!(StyledLine::plain("abcdef").cut(4).text(), "abc…");
    }
}
