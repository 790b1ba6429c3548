//! Shows the figures, for people and for programs.

use serde_json::{Value, json};

use crate::figure::{Bound, Figure};

const HEAD: [&str; 7] = ["figure", "limit", "mcparley", "ratio", "best", "promised", ""];

/// A table for people.
pub(crate) fn text(figures: &[Figure]) -> String {
    let rows: Vec<Vec<String>> = std::iter::once(HEAD.map(str::to_owned).to_vec())
        .chain(figures.iter().map(|figure| row(figure).to_vec()))
        .collect();
    // Names and verdicts are read from the left, numbers from the right.
    aligned(&rows, |column| column == 0 || column == 6)
}

/// Rows with their columns below each other; `from_left` says which of them begin below each other.
pub(crate) fn aligned(rows: &[Vec<String>], from_left: impl Fn(usize) -> bool) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            let cell =
                if from_left(column) { format!("{cell:width$}  ") } else { format!("{cell:>width$}  ") };
            text.push_str(&cell);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn row(figure: &Figure) -> [String; 7] {
    let ratio = |ratio: Option<f64>| match ratio {
        Some(ratio) if ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
        None => String::new(),
    };
    let (limit, ours) = match figure {
        Figure::Compared { unit, limit, ours, .. } => (unit.show(limit.median()), unit.show(ours.median())),
        Figure::Alone { unit, ours, .. } => (String::new(), unit.show(ours.most())),
        Figure::Missing { why, .. } => {
            let mut row = [const { String::new() }; 7];
            row[0] = figure.name().to_owned();
            row[6] = why.clone();
            return row;
        }
    };
    let name = figure.name().to_owned();
    let bound = figure.bound().to_string();
    [name, limit, ours, ratio(figure.ratio()), ratio(figure.best_ratio()), bound, verdict(figure).to_owned()]
}

fn verdict(figure: &Figure) -> &'static str {
    match figure.bound() {
        Bound::None => "",
        Bound::AtMost(_) | Bound::AtLeast(_) | Bound::Absolute(_) | Bound::Within(_) => {
            if figure.is_over(1.0) { "OVER" } else { "ok" }
        }
    }
}

/// The same for programs: seconds, calls in a second and bytes.
pub(crate) fn json(figures: &[Figure]) -> Value {
    let figure = |figure: &Figure| {
        let (limit, ours) = match figure {
            Figure::Compared { limit, ours, .. } => (Some(limit.median()), Some(ours.median())),
            Figure::Alone { ours, .. } => (None, Some(ours.most())),
            Figure::Missing { why, .. } => return json!({ "figure": figure.name(), "missing": why }),
        };
        json!({
            "figure": figure.name(),
            "limit": limit,
            "mcparley": ours,
            "ratio": figure.ratio(),
            "best": figure.best_ratio(),
            "promised": figure.bound().to_string(),
            "over": figure.is_over(1.0),
        })
    };
    figures.iter().map(figure).collect()
}
