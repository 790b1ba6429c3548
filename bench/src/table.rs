//! Renders the figures for people and for programs.

use serde_json::{Value, json};

use crate::figure::{BenchFigure, FigureBound, FigureUnit};

const HEAD: [&str; 7] = ["figure", "limit", "mcparley", "ratio", "best", "promised", ""];

/// Renders a table for people; its verdicts are those of a check with this slack.
pub(crate) fn render_text(figures: &[BenchFigure], slack: f64) -> String {
    let rows: Vec<Vec<String>> = std::iter::once(HEAD.map(str::to_owned).to_vec())
        .chain(figures.iter().map(|figure| figure_row(figure, slack).to_vec()))
        .collect();
    // Names and verdicts are left-aligned, numbers right-aligned.
    align_columns(&rows, |column| column == 0 || column == 6)
}

/// Renders rows with aligned columns; `from_left` tells which columns are left-aligned.
pub(crate) fn align_columns(rows: &[Vec<String>], from_left: impl Fn(usize) -> bool) -> String {
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

fn figure_row(figure: &BenchFigure, slack: f64) -> [String; 7] {
    let ratio = |ratio: Option<f64>| match ratio {
        Some(ratio) if ratio < 0.1 => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.2}"),
        None => String::new(),
    };
    let (limit, ours) = match figure {
        BenchFigure::Compared { unit, limit, ours, .. } => {
            (unit.format_amount(limit.median()), unit.format_amount(ours.median()))
        }
        BenchFigure::Alone { unit, ours, bound, .. } => {
            (String::new(), unit.format_amount(bound.judged_sample(ours)))
        }
        BenchFigure::Missing { why, .. } => {
            let mut row = [const { String::new() }; 7];
            row[0] = figure.name().to_owned();
            row[6] = why.clone();
            return row;
        }
    };
    let name = figure.name().to_owned();
    let bound = figure.bound().to_string();
    [
        name,
        limit,
        ours,
        ratio(figure.ratio()),
        ratio(figure.best_ratio()),
        bound,
        figure_verdict(figure, slack).to_owned(),
    ]
}

fn figure_verdict(figure: &BenchFigure, slack: f64) -> &'static str {
    match figure.bound() {
        FigureBound::None => "",
        FigureBound::AtMost(_)
        | FigureBound::AtLeast(_)
        | FigureBound::Absolute(_)
        | FigureBound::Within(_) => match (figure.is_over(slack), figure.is_over(1.0)) {
            (true, _) => "OVER",
            (false, true) => "ok, with slack",
            (false, false) => "ok",
        },
    }
}

impl FigureUnit {
    /// The unit of the numbers in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Time => "seconds",
            Self::Rate => "calls per second",
            Self::Memory => "bytes",
        }
    }
}

/// Renders JSON for programs: seconds, calls per second and bytes. `over` is the verdict of a check with this slack.
pub(crate) fn render_json(figures: &[BenchFigure], slack: f64) -> Value {
    let figure = |figure: &BenchFigure| {
        let (unit, limit, ours) = match figure {
            BenchFigure::Compared { unit, limit, ours, .. } => {
                (unit, Some(limit.median()), Some(ours.median()))
            }
            BenchFigure::Alone { unit, ours, bound, .. } => (unit, None, Some(bound.judged_sample(ours))),
            BenchFigure::Missing { why, .. } => return json!({ "figure": figure.name(), "missing": why }),
        };
        json!({
            "figure": figure.name(),
            "unit": unit.name(),
            "limit": limit,
            "mcparley": ours,
            "ratio": figure.ratio(),
            "best": figure.best_ratio(),
            "promised": figure.bound().to_string(),
            "over": figure.is_over(slack),
        })
    };
    figures.iter().map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::RoundSamples;

    #[test]
    fn printed_verdict_is_that_of_the_check_with_its_slack() {
        let samples = |sample: f64| RoundSamples::after_warming_up(&[sample, sample]);
        let figures = [BenchFigure::Compared {
            name: "call".to_owned(),
            unit: FigureUnit::Time,
            limit: samples(1e-3),
            ours: samples(1.2e-3),
            bound: FigureBound::AtMost(1.0),
        }];
        for (slack, verdict, is_over) in [(1.0, "OVER", true), (1.3, "ok, with slack", false)] {
            let text = render_text(&figures, slack);
            assert!(text.trim_end().ends_with(verdict), "{text}");
            assert_eq!(render_json(&figures, slack)[0]["over"], is_over);
            assert_eq!(crate::figure::check_figures(&figures, slack).is_empty(), !is_over);
        }
    }
}
