//! Markdown tables that no cell can break.

/// A table; cells are Markdown, one row each.
pub(super) fn table<const N: usize>(heads: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut text = line(&heads);
    text.push_str(&line(&["---"; N]));
    for row in rows {
        text.push_str(&line(&row.each_ref().map(|cell| cell_text(cell)).each_ref().map(String::as_str)));
    }
    text
}

/// Literal text.
pub(super) fn code(text: &str) -> String {
    format!("`{text}`")
}

fn line(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A cell is one line, and a bar would end it.
fn cell_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', r"\|")
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_cell_cannot_break_its_row() {
        let rows = [["a|b".to_owned(), "two\n\nlines".to_owned()]];
        assert_eq!(table(["x", "y"], rows), "| x | y |\n| --- | --- |\n| a\\|b | two lines |\n");
    }
}
