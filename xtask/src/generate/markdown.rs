//! Markdown tables with escaped cells.

/// Renders a table; cells are Markdown, one row each.
pub(super) fn render_table<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut text = render_row(&heads);
    text.push_str(&render_row(&["---"; N]));
    for row in rows {
        text.push_str(&render_row(
            &row.each_ref().map(|cell| escape_cell(cell)).each_ref().map(String::as_str),
        ));
    }
    text
}

/// Renders literal text.
pub(super) fn render_code(text: &str) -> String {
    format!("`{text}`")
}

fn render_row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Joins a cell into one line and escapes bars, which would end it.
fn escape_cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', r"\|")
}

#[cfg(test)]
mod tests {
    use super::render_table;

    #[test]
    fn a_cell_cannot_break_its_row() {
        let rows = [["a|b".to_owned(), "two\n\nlines".to_owned()]];
        assert_eq!(render_table(["x", "y"], rows), "| x | y |\n| --- | --- |\n| a\\|b | two lines |\n");
    }
}
