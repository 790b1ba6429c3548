//! Texts with known faults in their wording, and the figures they must have.

use super::*;

/// The figures of one file.
fn count(text: &str) -> WordingCount {
    let mut sources = CrateSources { folder: "crates/one".to_owned(), ..CrateSources::default() };
    sources.add_file("lib.rs", text);
    let mut count = WordingCount::default();
    count.add_crate(&sources);
    count
}

#[test]
fn functions_that_a_trait_prescribes_are_not_counted() {
    let count = count(
        "impl Tell for Told {\n    fn told(&self) {}\n}\nfn told() {}\nimpl Told {\n    pub fn new() {}\n}\n",
    );
    assert_eq!((count.names.functions, count.names.one_word), (1, 1));
    assert_eq!(count.names.participles, ["`told` in crates/one/src/lib"]);
}

#[test]
fn participle_before_a_noun_is_a_noun_phrase() {
    let text =
        "fn allowed_tools() {}\nfn carried_out() {}\nfn embed() {}\nfn is_closed() {}\nfn closed() {}\n";
    assert_eq!(count(text).names.participles, ["`carried_out` in crates/one/src/lib"]);
}

#[test]
fn fillers_are_found_at_both_ends_of_a_name() {
    let text = "fn do_call() {}\npub(crate) async fn tell_it() {}\nconst fn get() {}\nfn item() {}\n";
    assert_eq!(
        count(text).names.fillers,
        ["`do_call` in crates/one/src/lib", "`tell_it` in crates/one/src/lib"]
    );
}

#[test]
fn shared_types_are_counted_each_and_conventional_ones_not() {
    let count =
        count("struct Entry;\nmod a {\n    pub(super) enum Entry {}\n    struct Error;\n}\nstruct Error;\n");
    assert_eq!((count.names.types(), count.names.shared_types()), (4, 2));
    assert_eq!(count.names.shared_type_names(), ["`Entry`, 2 times"]);
}

#[test]
fn doc_comment_counts_by_its_first_line_and_pronouns_by_word() {
    let text = "/// What came of it.\n/// Whoever asks is told.\nfn a_b() {}\n/// Whatsoever.\n// nobody's\nlet x = 1; // who\n";
    let count = count(text);
    assert_eq!(count.comments.doc_comments, 2);
    assert_eq!(count.comments.pronoun_first, ["crates/one/src/lib: /// What came of it."]);
    assert_eq!(count.comments.pronouns.len(), 2);
}

#[test]
fn figure_above_its_ceiling_is_reported_with_examples() {
    let findings = count("//! Who asks.\nfn told() {}\n").find_excesses();
    let labels: Vec<_> = findings.iter().map(|finding| finding.label).collect();
    assert_eq!(
        labels,
        [
            "functions with a one-word name, %",
            "functions named by a participle, %",
            "pronouns in 10,000 words of comments",
            "doc comments that begin with a pronoun, %",
        ]
    );
    assert_eq!(
        findings[1].to_string(),
        "functions named by a participle, %: 100.00, and the limit is 0.2\n    `told` in crates/one/src/lib"
    );
}

#[test]
fn names_of_a_module_that_stands_in_for_another_are_not_counted() {
    let mut sources = CrateSources { folder: "crates/one".to_owned(), ..CrateSources::default() };
    sources.add_file("vault.rs", "pub struct Vault;\n");
    sources.add_file("without_vault.rs", "pub struct Vault;\npub struct Key;\n");
    let mut count = WordingCount::default();
    count.add_crate(&sources);
    assert_eq!((count.names.types(), count.names.shared_types()), (1, 0));
}
