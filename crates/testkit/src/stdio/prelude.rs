//! Startup faults and output that is not a message.

use crate::hostile;
use crate::life;
use crate::options::Options;
use mcparley_testkit::Name;
use std::io::{self, Write};

/// A line of 64 bytes, one of them never UTF-8.
const NOISE: &[u8; 64] = b"noise that is neither JSON nor \xff UTF-8, as servers log it {[\"..\n";

const BANNER: &str = "Starting server v1.2.3\n\
    \n\
    \r\n\
    \u{1b}[32mINFO\u{1b}[0m listening on stdio\r\n\
    {\"level\":30,\"msg\":\"a log line in JSON\"}\n\
    42\n\
    Content-Length: 86\r\n\
    \r\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"\"}}\n";

/// Log lines as servers print them among their messages; none is a valid message.
pub(super) const CHATTER: &str = "[INFO] started\n\
    { port: 3000 }\n\
    {\n\
    \x20 \"jsonrpc\": \"2.0\",\n\
    \x20 nested: { \"id\": 1, \"result\": 2 }\n\
    }\n\
    [\n\
    ]\n\
    {\"half\":\n\
    {\"level\":\"info\",\"id\":1,\"msg\":\"a request\"}\n\
    {\"method\":\"GET\",\"path\":\"/health\",\"result\":\"ok\"}\n\
    {\"id\":987654321,\"result\":\"of a job\"}\n\
    [DEBUG] <- {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n\
    [1,2,3]\n\
    []\n";

/// Applies the startup scripts, before the first message.
pub(crate) fn apply_startup_faults(options: &Options) -> io::Result<()> {
    let scripts = &options.scripts;
    if scripts.has(Name::ExitStart) {
        io::stderr().write_all(b"exit-start: the database is missing\n")?;
        life::exit_process(3);
    }
    if scripts.has(Name::Daemon) {
        hostile::leave_daemon(&options.tag)?;
    }
    if let Some(size) = scripts.number(Name::Noise) {
        write_noise(&mut io::stdout().lock(), size)?;
    }
    if scripts.has(Name::Banner) {
        let mut out = io::stdout().lock();
        out.write_all(BANNER.as_bytes())?;
        out.flush()?;
    }
    if scripts.has(Name::Chatter) {
        let mut out = io::stdout().lock();
        out.write_all(CHATTER.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

/// Writes `size` bytes of noise to stderr.
pub(crate) fn flood_stderr(size: u64) -> io::Result<()> {
    write_noise(&mut io::stderr().lock(), size)
}

/// Writes exactly `size` bytes of noise, ended by a newline.
fn write_noise(out: &mut impl Write, size: u64) -> io::Result<()> {
    let chunk = NOISE.repeat(1024);
    let mut left = usize::try_from(size).unwrap_or_default();
    while left > 0 {
        let from = chunk.len().saturating_sub(left);
        let part = chunk.get(from..).unwrap_or_default();
        out.write_all(part)?;
        left -= part.len();
    }
    out.flush()
}
