//! Lays a form out: one line per field, more about the field with the focus, and a window if there are too
//! many.

use mcparley::elicit::{FieldChoice, FieldKind, FieldWarning};
use mcparley::model::text::display_line;
use unicode_width::UnicodeWidthStr as _;

use super::field_input::FieldInput;
use super::field_rule::describe_kind;
use super::{FormDialog, FormEntry};
use crate::dialog::session::{DialogControls, DialogSize};
use crate::dialog::styled_line::{StyledLine, Tone};

/// The widest column of titles.
const WIDEST_TITLE: usize = 24;

/// The lines of a description that are shown at most.
const DESCRIPTION_LINES: usize = 3;

const KEYS: &str = "Enter send · ↑↓ field · Esc decline · Ctrl-C cancel the call";

/// The lines of one field, and the column of the cursor in the first of them.
struct FieldBlock {
    lines: Vec<StyledLine>,
    cursor: Option<usize>,
}

pub(super) fn layout_form(form: &FormDialog<'_>, size: DialogSize) -> DialogControls {
    let title_width =
        form.entries.iter().map(|entry| entry_title(entry).width()).max().unwrap_or(0).min(WIDEST_TITLE);
    let blocks: Vec<FieldBlock> = form
        .entries
        .iter()
        .enumerate()
        .map(|(at, entry)| field_block(entry, at == form.focus, title_width, size.columns))
        .collect();
    let room = size.rows.saturating_sub(3).max(3);
    let (first, last) = visible_range(&blocks, form.focus, room);
    let mut controls = DialogControls { keys: KEYS.to_owned(), ..DialogControls::default() };
    if first > 0 {
        controls.lines.push(StyledLine::new(Tone::Dim, format!("… {first} above")));
    }
    for (at, block) in blocks.iter().enumerate().take(last).skip(first) {
        if at == form.focus {
            controls.cursor = block.cursor.map(|column| (controls.lines.len(), column));
        }
        controls.lines.extend(block.lines.iter().cloned());
    }
    if last < blocks.len() {
        controls.lines.push(StyledLine::new(Tone::Dim, format!("… {} below", blocks.len() - last)));
    }
    if let Some(mismatch) = &form.mismatch {
        controls.lines.push(StyledLine::new(Tone::Error, format!("! {mismatch}")));
    }
    controls
}

/// The fields around the focus that fit into the room.
fn visible_range(blocks: &[FieldBlock], focus: usize, room: usize) -> (usize, usize) {
    let rows = |from: usize, to: usize| -> usize {
        blocks.get(from..to).unwrap_or_default().iter().map(|block| block.lines.len()).sum()
    };
    if rows(0, blocks.len()) <= room {
        return (0, blocks.len());
    }
    // Two rows say how many fields are above and below.
    let room = room.saturating_sub(2);
    let (mut first, mut last) = (focus, (focus + 1).min(blocks.len()));
    loop {
        if last < blocks.len() && rows(first, last + 1) <= room {
            last += 1;
        } else if first > 0 && rows(first - 1, last) <= room {
            first -= 1;
        } else {
            return (first, last);
        }
    }
}

fn entry_title(entry: &FormEntry<'_>) -> String {
    let mark = if entry.field.required { " *" } else { "" };
    format!("{}{mark}", display_line(&entry.field.title))
}

fn field_block(entry: &FormEntry<'_>, is_focused: bool, title_width: usize, columns: usize) -> FieldBlock {
    let (marker, tone) = if is_focused { ("> ", Tone::Selected) } else { ("  ", Tone::Plain) };
    let title = StyledLine::new(tone, entry_title(entry)).cut(title_width);
    let padding = " ".repeat(title_width.saturating_sub(title.width()) + 2);
    let start = marker.len() + title_width + 2;
    let error = entry.shown_error();
    let reserved = error.as_ref().filter(|_| !is_focused).map_or(0, |error| error.width() + 4);
    let room = columns.saturating_sub(start + reserved).max(8);
    let (value, cursor) = value_line(entry, is_focused, room);
    let mut line = StyledLine::new(tone, marker);
    line = line.join(title).with(Tone::Plain, padding).join(value);
    if let Some(error) = error.as_ref().filter(|_| !is_focused) {
        line = line.with(Tone::Error, format!("  ! {error}"));
    }
    let mut lines = vec![line];
    if is_focused {
        lines.extend(focus_lines(entry, error.as_deref(), columns));
    }
    lines.extend(entry.field.warnings.iter().map(|warning| warning_line(*warning)));
    FieldBlock { lines, cursor: cursor.filter(|_| is_focused).map(|column| start + column) }
}

/// The lines below the field with the focus: its description, and the error or the expected value.
fn focus_lines(entry: &FormEntry<'_>, error: Option<&str>, columns: usize) -> Vec<StyledLine> {
    let indented = |tone, text: &str| -> Vec<StyledLine> {
        let wrapped = StyledLine::new(tone, display_line(text)).wrap(columns.saturating_sub(4));
        wrapped.into_iter().map(|line| StyledLine::plain("    ").join(line)).collect()
    };
    let mut lines = Vec::new();
    if let Some(description) = &entry.field.description {
        lines.extend(indented(Tone::Dim, description).into_iter().take(DESCRIPTION_LINES));
    }
    match error {
        Some(error) => lines.extend(indented(Tone::Error, &format!("! {error}"))),
        None => lines.extend(indented(Tone::Dim, &describe_kind(&entry.field.kind))),
    }
    lines
}

fn warning_line(warning: FieldWarning) -> StyledLine {
    let text = match warning {
        FieldWarning::Secret => "    ! Looks like a secret, which no form may ask for: better leave it empty",
        FieldWarning::WrongDefault => "    ! The server's default is no valid value and was ignored.",
    };
    StyledLine::new(Tone::Warning, text)
}

/// The value of a field, and the column of the cursor in it.
fn value_line(entry: &FormEntry<'_>, is_focused: bool, room: usize) -> (StyledLine, Option<usize>) {
    match (&entry.input, &entry.field.kind) {
        (FieldInput::Line(line), _) => {
            let (text, column) = line.view(room);
            match text.is_empty() && !is_focused {
                true => (StyledLine::new(Tone::Dim, "(empty)"), None),
                false => (StyledLine::plain(text), Some(column)),
            }
        }
        (FieldInput::Switch(value), _) => {
            let options = [("yes", *value == Some(true)), ("no", *value == Some(false))];
            (radio_line(options.map(|(label, is_on)| (label.to_owned(), is_on)).as_slice()), None)
        }
        (FieldInput::Choice { chosen, .. }, FieldKind::Choice(among)) => {
            let option = |(at, choice): (usize, &FieldChoice)| (choice_label(choice), *chosen == Some(at));
            let options: Vec<(String, bool)> = among.iter().enumerate().map(option).collect();
            let inline = radio_line(&options);
            match inline.width() <= room {
                true => (inline, None),
                false => (single_choice_line(&options), None),
            }
        }
        (FieldInput::Choices { chosen, cursor }, FieldKind::Choices { among, .. }) => {
            let options: Vec<(String, bool)> =
                among.iter().zip(chosen).map(|(choice, is_on)| (choice_label(choice), *is_on)).collect();
            let cursor = is_focused.then_some(*cursor);
            let inline = check_line(&options, cursor);
            match inline.width() <= room {
                true => (inline, None),
                false => (single_check_line(&options, cursor.unwrap_or(0)), None),
            }
        }
        (FieldInput::Choice { .. } | FieldInput::Choices { .. }, _) => (StyledLine::default(), None),
    }
}

fn choice_label(choice: &FieldChoice) -> String {
    display_line(&choice.title).into_owned()
}

/// `( ) red  (•) green`
fn radio_line(options: &[(String, bool)]) -> StyledLine {
    let option = |(label, is_on): &(String, bool)| format!("({}) {label}", if *is_on { '•' } else { ' ' });
    StyledLine::plain(options.iter().map(option).collect::<Vec<_>>().join("  "))
}

/// `‹ green › 2 of 40`, where not all choices fit.
fn single_choice_line(options: &[(String, bool)]) -> StyledLine {
    match options.iter().enumerate().find(|(_, (_, is_on))| *is_on) {
        Some((at, (label, _))) => StyledLine::plain(format!("‹ {label} ›"))
            .with(Tone::Dim, format!("  {} of {}", at + 1, options.len())),
        None => StyledLine::new(Tone::Dim, format!("‹ none of {} ›", options.len())),
    }
}

/// `[x] rust ›[ ] web`, with a mark before the one that the cursor is on.
fn check_line(options: &[(String, bool)], cursor: Option<usize>) -> StyledLine {
    options.iter().enumerate().fold(StyledLine::default(), |line, (at, option)| {
        let is_here = cursor == Some(at);
        let mark = match (at, is_here) {
            (0, true) => "›",
            (0, false) if cursor.is_some() => " ",
            (0, false) => "",
            (_, true) => " ›",
            (_, false) => "  ",
        };
        line.with(if is_here { Tone::Selected } else { Tone::Plain }, format!("{mark}{}", check_box(option)))
    })
}

/// `‹ [x] rust › 1 of 40, 3 chosen`, where not all choices fit.
fn single_check_line(options: &[(String, bool)], cursor: usize) -> StyledLine {
    let chosen = options.iter().filter(|(_, is_on)| *is_on).count();
    let current = options.get(cursor).map(check_box).unwrap_or_default();
    let count = format!("  {} of {}, {chosen} chosen", cursor + 1, options.len());
    StyledLine::plain(format!("‹ {current} ›")).with(Tone::Dim, count)
}

fn check_box((label, is_on): &(String, bool)) -> String {
    format!("[{}] {label}", if *is_on { 'x' } else { ' ' })
}
