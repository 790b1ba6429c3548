//! Measures the time from the start of the console until its prompt is shown, on a pseudo-terminal.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::gateway::EndOnDrop;
use crate::rounds;
use crate::stage::BenchStage;

const SERVERS: usize = 20;
const BOUND: FigureBound = FigureBound::Within(0.060);
/// The last words of the first line, before the prompt.
const FIRST_LINE_END: &[u8] = b"/help";
const PROMPT: &[u8] = b"> ";
/// The query of a program for the position of the cursor, and an answer.
const CURSOR_QUERY: &[u8] = b"\x1b[6n";
const CURSOR_ANSWER: &[u8] = b"\x1b[2;1R";
/// A prompt that takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn figure_name() -> String {
    format!("console, {SERVERS} servers seen before, until its prompt")
}

pub(crate) fn measure_console(stage: &BenchStage, rounds: usize) -> io::Result<BenchFigure> {
    let configuration = stage.write_configuration(SERVERS)?;
    let mut warm = stage.command(&stage.mcparley);
    warm.arg("--mcp-config").arg(&configuration).args(["--strict-mcp-config", "tools"]);
    if !warm.status()?.success() {
        return Err(io::Error::other("the lists of the servers cannot be cached"));
    }
    let samples = rounds::run_rounds(rounds, 1, |_| time_prompt(stage, &configuration))?;
    let ours = samples.into_iter().next().unwrap_or_default();
    Ok(BenchFigure::Alone { name: figure_name(), unit: FigureUnit::Time, ours, bound: BOUND })
}

/// The time until the prompt is shown. The console is ended then.
fn time_prompt(stage: &BenchStage, configuration: &std::path::Path) -> io::Result<f64> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(ptsname(&master, Vec::new())?, flags, Mode::empty())?;
    tcsetwinsize(&terminal, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })?;
    let mut command = stage.command(&stage.mcparley);
    command.arg("--mcp-config").arg(configuration).arg("--strict-mcp-config").env("TERM", "xterm");
    let copy = || terminal.try_clone().map(Stdio::from);
    command.stdin(copy()?).stdout(copy()?).stderr(copy()?);
    let begun = Instant::now();
    let _console = EndOnDrop(command.spawn()?);
    wait_for_prompt(File::from(master), begun)?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Reads until the prompt, and answers as a terminal does.
fn wait_for_prompt(mut master: File, begun: Instant) -> io::Result<()> {
    let (mut shown, mut answered) = (Vec::new(), 0);
    let mut buffer = [0; 4096];
    loop {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: 0 };
        let ready = poll(&mut [PollFd::new(&master, PollFlags::IN)], Some(&timeout))?;
        let read = if ready == 0 { 0 } else { master.read(&mut buffer)? };
        if read == 0 {
            let text = String::from_utf8_lossy(&shown).into_owned();
            return Err(io::Error::other(format!("the console shows no prompt: {text:?}")));
        }
        shown.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if has_prompt(&shown) {
            return Ok(());
        }
        let queries = shown.windows(CURSOR_QUERY.len()).filter(|part| *part == CURSOR_QUERY).count();
        for _ in answered..queries {
            master.write_all(CURSOR_ANSWER)?;
        }
        answered = queries;
    }
}

fn has_prompt(shown: &[u8]) -> bool {
    let find = |part: &[u8], text: &[u8]| text.windows(part.len()).position(|window| window == part);
    let behind = find(FIRST_LINE_END, shown).and_then(|at| shown.get(at..));
    behind.is_some_and(|rest| find(PROMPT, rest).is_some())
}

#[cfg(test)]
mod tests {
    use super::has_prompt;

    #[test]
    fn prompt_counts_behind_the_first_line_only() {
        assert!(!has_prompt(b"a > b"));
        assert!(!has_prompt(b"mcparley 0.1 \xc2\xb7 model: none > x \xc2\xb7 /help\r\n\x1b[>1u"));
        assert!(has_prompt(b"mcparley 0.1 \xc2\xb7 model: none \xc2\xb7 /help\r\n\x1b[32m> \x1b[0m"));
    }
}
