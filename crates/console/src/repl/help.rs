//! The text of `/help`.

use super::slash_command::SLASH_COMMANDS;

/// The forms of input that are no slash commands.
const OTHER_INPUT: [(&str, &str); 6] = [
    ("SERVER.TOOL key=value …", "call a tool; Tab completes, --help explains it"),
    ("SERVER.TOOL {\"key\": 1}", "the same with JSON; also key:=JSON and key=@FILE"),
    ("/mcp__SERVER__PROMPT …", "use a prompt; values by position or key=value"),
    ("@SERVER:URI", "read a resource; inside a text it is sent along"),
    ("any other text", "ask the model, if one is configured"),
    ("Ctrl-C", "cancel the running call; twice leaves"),
];

/// The help, as lines.
pub(crate) fn help_lines() -> Vec<String> {
    let commands = SLASH_COMMANDS.iter().map(|command| {
        let name = format!("/{} {}", command.name, command.usage);
        (name.trim_end().to_owned(), command.summary.to_owned())
    });
    let other = OTHER_INPUT.iter().map(|(input, about)| ((*input).to_owned(), (*about).to_owned()));
    let row = |(input, about): (String, String)| match input.chars().count() {
        // A long usage stands on a line of its own, so that the table fits 80 columns.
        0..=WIDTH => format!("  {input:WIDTH$}  {about}"),
        _ => format!("  {input}\n  {:WIDTH$}  {about}", ""),
    };
    other.map(row).chain([String::new()]).chain(commands.map(row)).collect()
}

/// The width of the first column.
const WIDTH: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    // U4
    #[test]
    fn help_names_every_command_and_fits_narrow_terminals() {
        let text = help_lines().join("\n");
        for command in SLASH_COMMANDS {
            assert!(text.contains(&format!("/{}", command.name)), "{}", command.name);
        }
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest}");
    }
}
