//! The help that clap builds from the doc comments of the arguments.

/// The long help of a command, given as its words.
fn long_help(words: &str) -> String {
    let root = super::root_command();
    let command = words.split(' ').try_fold(&root, |command, word| command.find_subcommand(word));
    let about = command.and_then(clap::Command::get_long_about);
    about.unwrap_or_else(|| panic!("`{words}` has no long help")).to_string()
}

#[test]
fn help_of_a_command_shows_the_paragraphs_of_its_arguments() {
    let cases = [
        ("wait-ready", "retries those that fail"),
        ("mcp wait-ready", "retries those that fail"),
        ("trust", "as they would run"),
        ("permissions list", "A rule that cannot match"),
        ("auth status", "Tokens and secrets are never shown"),
    ];
    for (words, expected) in cases {
        let help = long_help(words);
        assert!(help.contains(expected), "{words}: {help}");
    }
}
