//! Draws a terminal screen as an SVG picture, for documentation.
//!
//! Text stays text, so that a picture can be searched and compared line by line, and needs no font of its own.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// That of common fonts at the size of the picture, so that columns also fit where `textLength` is ignored.
const CELL_WIDTH: u16 = 8;
const LINE_HEIGHT: u16 = 17;
const MARGIN: u16 = 12;

const BACKGROUND: &str = "#16181d";
const FOREGROUND: &str = "#d5d8de";

/// The sixteen colors of a terminal.
const PALETTE: [&str; 16] = [
    "#1f2228", "#e0626a", "#8cc07a", "#d9b26a", "#6aa6e0", "#b78ad6", "#5fb8b8", "#d5d8de", "#6b7280",
    "#f08088", "#a6d696", "#ecc987", "#8cc0f0", "#cda6e8", "#80d0d0", "#ffffff",
];

/// A run of cells of one line that look the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TextRun {
    column: u16,
    text: String,
    style: RunStyle,
}

/// The attributes of a run that the picture shows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RunStyle {
    foreground: String,
    background: Option<String>,
    bold: bool,
    dim: bool,
    underline: bool,
}

/// Draws the screen. The height is that of its last line with text.
pub(super) fn draw_screen(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let lines: Vec<Vec<TextRun>> = (0..rows.get()).map(|row| line_runs(screen, row, columns.get())).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(1, |last| last + 1);
    let width = columns.get() * CELL_WIDTH + 2 * MARGIN;
    let height = u16::try_from(used).unwrap_or(u16::MAX) * LINE_HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
         font-size=\"13.3\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for (row, line) in lines.iter().take(used).enumerate() {
        let top = MARGIN + u16::try_from(row).unwrap_or(u16::MAX) * LINE_HEIGHT;
        line.iter().for_each(|run| draw_run(&mut svg, run, top));
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_run(svg: &mut String, run: &TextRun, top: u16) {
    let x = MARGIN + run.column * CELL_WIDTH;
    let cells = u16::try_from(run.text.chars().count()).unwrap_or(u16::MAX);
    let style = &run.style;
    let mut draw = |element: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _never = svg.write_fmt(element);
    };
    if let Some(background) = &style.background {
        let width = cells * CELL_WIDTH;
        draw(format_args!(
            "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{LINE_HEIGHT}\" fill=\"{background}\"/>\n"
        ));
    }
    let mut extra = String::new();
    if style.bold {
        extra.push_str(" font-weight=\"bold\"");
    }
    if style.dim {
        extra.push_str(" opacity=\"0.65\"");
    }
    if style.underline {
        extra.push_str(" text-decoration=\"underline\"");
    }
    let (baseline, length) = (top + 13, cells * CELL_WIDTH);
    let (color, text) = (&style.foreground, escape_text(&run.text));
    draw(format_args!(
        "<text x=\"{x}\" y=\"{baseline}\" textLength=\"{length}\" fill=\"{color}\"{extra}>{text}</text>\n"
    ));
}

/// The runs of a line, without blank ones.
fn line_runs(screen: &Screen, row: u16, columns: u16) -> Vec<TextRun> {
    let mut runs: Vec<TextRun> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let style = cell_style(cell);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            Some(_) | None => runs.push(TextRun { column, text: text.to_owned(), style }),
        }
    }
    runs.retain(|run| run.style.background.is_some() || !run.text.trim().is_empty());
    for run in &mut runs {
        if run.style.background.is_none() {
            run.text.truncate(run.text.trim_end().len());
        }
    }
    runs
}

fn cell_style(cell: &Cell) -> RunStyle {
    let foreground = color_name(cell.fgcolor());
    let background = color_name(cell.bgcolor());
    let (foreground, background) = match cell.inverse() {
        true => (
            background.unwrap_or_else(|| BACKGROUND.to_owned()),
            Some(foreground.unwrap_or_else(|| FOREGROUND.to_owned())),
        ),
        false => (foreground.unwrap_or_else(|| FOREGROUND.to_owned()), background),
    };
    RunStyle { foreground, background, bold: cell.bold(), dim: cell.dim(), underline: cell.underline() }
}

/// The color in SVG; `None` for the terminal's own.
fn color_name(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(index @ 0..16) => PALETTE.get(usize::from(index)).map(|&color| color.to_owned()),
        Color::Idx(index @ 16..232) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            let (red, green, blue) = (level(cube / 36), level(cube / 6 % 6), level(cube % 6));
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        Color::Idx(index) => {
            let gray = 8 + 10 * (index - 232);
            Some(format!("#{gray:02x}{gray:02x}{gray:02x}"))
        }
    }
}

fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
