//! Tests of folding.

use super::{FoldedText, fold_text};

// U4
#[test]
fn short_texts_are_shown_whole() {
    let text = "a\nb\nc\n";
    assert_eq!(fold_text(text, 80, 2), FoldedText { shown: "a\nb\nc", hidden_lines: 0 });
    assert_eq!(fold_text("", 80, 2), FoldedText { shown: "", hidden_lines: 0 });
}

// U4
#[test]
fn long_texts_are_cut_after_the_limit() {
    let text = "a\nb\nc\nd\n\n";
    assert_eq!(fold_text(text, 80, 2), FoldedText { shown: "a\nb", hidden_lines: 2 });
}

// U4
#[test]
fn one_long_line_counts_as_often_as_it_wraps() {
    let text = "x".repeat(45);
    assert_eq!(fold_text(&text, 10, 2), FoldedText { shown: &text[..20], hidden_lines: 3 });
    let wide = "語".repeat(10);
    assert_eq!(fold_text(&wide, 5, 2), FoldedText { shown: &wide[..12], hidden_lines: 3 });
}
