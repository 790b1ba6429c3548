//! Table of tools: one line each with signature and description, cut to the width of the terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use anstyle::Style;
use mcparley::catalog::{CatalogEntry, tool_signature};
use mcparley::model::text::display_line;
use mcparley::model::tool::{Tool, ToolHints};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The maximum width of a description where no terminal limits it.
const DESCRIPTION_WIDTH: usize = 100;

/// The minimum width of a description; the signature is cut instead.
const LEAST_DESCRIPTION: usize = 24;

/// The maximum width of the column of signatures where no terminal limits it.
const SIGNATURE_WIDTH: usize = 60;

/// The name of the group of tools that no server has.
const BUILT_IN_GROUP: &str = "built-in tools";

/// How a row names the server of its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowNames {
    /// The rows of a server follow a line with its name, servers in alphabetical order.
    GroupedByServer,
    /// Each row has the server in it, as `server.tool`, in the order given.
    WithServer,
}

/// The terminal that a table is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableTerminal {
    /// The width of a whole line; absent where no terminal limits it.
    pub columns: Option<usize>,
    /// Whether names are bold.
    pub has_colors: bool,
}

/// Renders one row per tool.
#[must_use]
pub fn render_tool_table(tools: &[Arc<CatalogEntry>], names: RowNames, terminal: TableTerminal) -> String {
    let rows: Vec<ToolRow<'_>> = tools.iter().map(|entry| ToolRow::new(entry, names)).collect();
    let layout = TableLayout::for_rows(&rows, terminal);
    let mut text = String::new();
    match names {
        RowNames::WithServer => rows.iter().for_each(|row| row.append(0, &layout, &mut text)),
        RowNames::GroupedByServer => {
            let mut groups: BTreeMap<(bool, &str), Vec<&ToolRow<'_>>> = BTreeMap::new();
            for row in &rows {
                groups.entry(row.group()).or_default().push(row);
            }
            for ((_, server), rows) in groups {
                text.push_str(&if layout.colors {
                    render_styled(BOLD, server)
                } else {
                    display_line(server).into_owned()
                });
                text.push('\n');
                rows.iter().for_each(|row| row.append(2, &layout, &mut text));
            }
        }
    }
    text
}

/// The widths of the columns.
struct TableLayout {
    signature: usize,
    /// The width of a whole line; absent where no terminal limits it.
    line: Option<usize>,
    colors: bool,
}

impl TableLayout {
    fn for_rows(rows: &[ToolRow<'_>], terminal: TableTerminal) -> Self {
        let line = terminal.columns;
        let widest = rows.iter().map(|row| row.signature.width()).max().unwrap_or(0);
        let limit = line.map_or(SIGNATURE_WIDTH, |line| (line * 9 / 20).max(LEAST_DESCRIPTION));
        Self { signature: widest.min(limit), line, colors: terminal.has_colors }
    }
}

/// One row: the signature, the title and description, and the declared effect of a tool.
struct ToolRow<'e> {
    entry: &'e CatalogEntry,
    signature: String,
    effect: &'static str,
}

impl<'e> ToolRow<'e> {
    fn new(entry: &'e CatalogEntry, names: RowNames) -> Self {
        let signature = tool_signature(&entry.tool);
        let signature = match (names, entry.server()) {
            (RowNames::WithServer, Some(server)) => format!("{}.{signature}", display_line(server.as_str())),
            (_, _) => signature,
        };
        let effect = match entry.tool.hints {
            ToolHints { read_only: true, .. } => "  [read-only]",
            // Shown only if the server declares it; the default of the protocol does not count.
            ToolHints { destructive: true, .. } if entry.tool.says_destructive => "  [destructive]",
            ToolHints { .. } => "",
        };
        Self { entry, signature, effect }
    }

    /// The name of the group, after whether it is the last one.
    fn group(&self) -> (bool, &'e str) {
        self.entry.server().map_or((true, BUILT_IN_GROUP), |server| (false, server.as_str()))
    }

    fn append(&self, indent: usize, layout: &TableLayout, text: &mut String) {
        let limit = layout.line.map_or(usize::MAX, |_| layout.signature);
        let signature = cut_to_width(&self.signature, limit);
        let used = indent + signature.width().max(layout.signature) + 2 + self.effect.width();
        let left = layout.line.map_or(DESCRIPTION_WIDTH, |line| line.saturating_sub(used));
        let about = cut_to_width(&display_line(&title_and_description(&self.entry.tool)), left);
        let padding = layout.signature.saturating_sub(signature.width());
        let (name, effect) = if layout.colors {
            (render_styled(BOLD, &signature), render_styled(DIM, self.effect))
        } else {
            (signature, self.effect.to_owned())
        };
        let row = format!("{:indent$}{name}{:padding$}  {about}{effect}", "", "");
        text.push_str(row.trim_end());
        text.push('\n');
    }
}

/// Text in a style, without control sequences of its own.
fn render_styled(style: Style, text: &str) -> String {
    format!("{style}{}{style:#}", display_line(text))
}

/// The title and the first line of the description.
fn title_and_description(tool: &Tool) -> String {
    let first = tool.description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match tool.title.as_deref().map(str::trim).filter(|title| !title.is_empty() && *title != first) {
        Some(title) if first.is_empty() => title.to_owned(),
        Some(title) => format!("{title}: {first}"),
        None => first.to_owned(),
    }
}

/// The text in at most this many columns; a cut text ends with `…`.
fn cut_to_width(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        cut.push(character);
    }
    if columns == 0 { String::new() } else { format!("{}…", cut.trim_end()) }
}
