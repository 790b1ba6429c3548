//! Options of `call` that may also follow the tool's name.

use clap::{CommandFactory, Parser};
use mcparley_console::arguments::CommandOption;

use super::CallCommandOptions;

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct TrailingArgs {
    #[command(flatten)]
    options: CallCommandOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// More output
    #[arg(long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl CallCommandOptions {
    /// Lists the options that may follow the tool.
    #[must_use]
    pub fn trailing_options() -> Vec<CommandOption> {
        let command = TrailingArgs::command();
        let option = |argument: &clap::Arg| {
            let takes_value = argument.get_action().takes_values();
            Some(CommandOption { name: argument.get_long()?.to_owned(), takes_value })
        };
        command.get_arguments().filter_map(option).collect()
    }

    /// Merges the options that followed the tool into these, and returns whether `--json` was among them. The
    /// options after the tool win.
    ///
    /// # Errors
    /// The error of clap about the words after the tool.
    pub fn merge_trailing(&self, words: &[String]) -> Result<(Self, bool), clap::Error> {
        let TrailingArgs { options, json, verbose: _ } = TrailingArgs::try_parse_from(words)?;
        let Self { timeout, output, save, detach, ttl } = self.clone();
        // `--output` and `--save` exclude each other, so the last one given replaces both.
        let named = options.output.is_some() || options.save.is_some();
        let (output, save) = if named { (options.output, options.save) } else { (output, save) };
        let (timeout, detach) = (options.timeout.or(timeout), options.detach || detach);
        Ok((Self { timeout, output, save, detach, ttl: options.ttl.or(ttl) }, json))
    }
}
