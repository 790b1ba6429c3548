//! The command line of the misrouting test.

/// Let many clients with colliding ids share three servers, and see whether any message reaches the wrong one
///
/// The gateway runs in this process, with clients on pipes, on TCP and on a Unix socket, half of them of each
/// protocol era; the servers are processes of their own. One call in ten is asked a question, one in twenty is
/// canceled, and one in twenty loses its connection.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of calls of all clients
    #[arg(long, default_value_t = 1_000_000, value_name = "NUMBER")]
    pub(crate) calls: u64,
    /// Number of clients
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1000), value_name = "NUMBER")]
    pub(crate) clients: u64,
    /// Kill one server every second; calls may fail then, but no message may go astray
    #[arg(long)]
    pub(crate) kill: bool,
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
}
