//! Table of open questions.

use mcparley::model::text::{display_block, display_json, display_line};
use mcparley_gateway::{PendingQuestion, QuestionDetails};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::out::{TerminalOutput, dim};

const HEADINGS: [&str; 6] = ["ID", "AGE", "SERVER", "TOOL", "KIND", "CLIENT"];

/// Prints one row per question, and below it the contents that are known.
pub(super) fn print_questions(questions: &[PendingQuestion], out: &mut TerminalOutput) {
    let rows: Vec<[String; 6]> = questions.iter().map(row_cells).collect();
    let mut widths = HEADINGS.map(UnicodeWidthStr::width);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    out.print_line(dim(&join_cells(&HEADINGS.map(str::to_owned), &widths)));
    for (row, question) in rows.iter().zip(questions) {
        out.print_line(join_cells(row, &widths));
        for (name, text) in question_contents(question) {
            let mut lines = text.lines();
            out.print_line(format!("  {} {}", dim(&format!("{name}:")), lines.next().unwrap_or_default()));
            lines.for_each(|line| out.print_line(format!("    {line}")));
        }
    }
}

fn row_cells(question: &PendingQuestion) -> [String; 6] {
    let line = |text: &str| display_line(text).into_owned();
    let client = match &question.client {
        Some(client) => format!("{client} ({})", question.principal),
        None => question.principal.clone(),
    };
    [
        line(&question.id),
        format_age(question.age_seconds),
        question.server.as_deref().map_or_else(|| "-".to_owned(), line),
        line(&question.tool),
        question.kind.as_str().to_owned(),
        line(&client),
    ]
}

fn join_cells(cells: &[String; 6], widths: &[usize; 6]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, width)| {
        let missing = width.saturating_sub(cell.width());
        format!("{cell}{}", " ".repeat(missing))
    });
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// An age as one number: `12s`, `3m`, `2h`.
fn format_age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3600),
    }
}

/// The known contents of a question, by name.
fn question_contents(question: &PendingQuestion) -> Vec<(&'static str, String)> {
    let pretty = |value: &Value| {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        display_json(&text).into_owned()
    };
    let arguments = question.arguments.as_ref().map(|arguments| ("arguments", pretty(arguments)));
    let mut contents: Vec<_> = arguments.into_iter().collect();
    match &question.details {
        Some(QuestionDetails::Permission(summary)) => {
            contents.push(("why asked", display_line(&summary.reason).into_owned()));
            contents.extend(summary.change.as_deref().map(|it| ("changed", display_block(it).into_owned())));
        }
        Some(QuestionDetails::Form(params) | QuestionDetails::Page(params)) => {
            let text = |name: &str| params.get(name).and_then(Value::as_str);
            contents.extend(text("message").map(|it| ("message", display_block(it).into_owned())));
            contents.extend(text("url").map(|it| ("page", display_line(it).into_owned())));
            contents.extend(params.get("requestedSchema").map(|schema| ("form", pretty(schema))));
        }
        Some(QuestionDetails::Sampling(params)) => contents.push(("request", pretty(params))),
        None => {}
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::format_age;

    #[test]
    fn ages_are_one_number_with_a_unit() {
        let ages = [0, 59, 60, 3599, 3600, 90_000].map(format_age);
        assert_eq!(ages, ["0s", "59s", "1m", "59m", "1h", "25h"]);
    }
}
