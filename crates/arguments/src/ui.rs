//! Options of `ui`.

use clap::Args;

/// Open the web page of the servers
///
/// Serves a page on this machine only: servers with their live state, tools with a form for each, open
/// questions, the log of calls, logs, and items of the folder that wait for approval. The address contains a
/// token that is valid once; the browser gets a cookie for it. Ends with Ctrl-C, or when no browser was
/// connected for ten minutes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcparley ui
  mcparley ui --port 8932 --no-open
  mcparley ui --no-open --json

To serve the page beside a gateway: `mcparley serve --http 8931 --ui`")]
pub struct UiArgs {
    /// Listen on this port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// Only print the address; open no browser
    #[arg(long)]
    pub no_open: bool,
}
