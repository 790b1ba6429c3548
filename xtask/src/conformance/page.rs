//! `docs/conformance.md`: the counts of a whole run, and how to repeat it.
//!
//! The page is rendered from the rows of a run, never from the lists of scenarios, so a scenario that did not run
//! is not counted.

use std::fmt::Write;

use serde_json::Value;

use super::plan::SELECTIONS;
use super::server::{LEGS, LegNaming};
use super::table::ScenarioRow;
use crate::error::ChoreError;
use crate::workspace;

const PAGE: &str = "docs/conformance.md";
const HINT: &str = "run `cargo xtask conformance --write` and read the difference";
/// The file that pins the suite.
const PIN: &str = "fleet/conformance/package.json";
const PACKAGE: &str = "/dependencies/@modelcontextprotocol~1conformance";

const TOP: &str = "\
<!-- Written by `cargo xtask conformance --write`; do not edit. -->

# Conformance

The [official conformance suite](https://github.com/modelcontextprotocol/conformance) of the Model Context Protocol checks both sides
of mcparley: the crate as a client, and the gateway as a server. Repeat it in a clone of this repository, with Rust and Node 20 or newer:

```sh
cargo xtask conformance                # all rows, about five minutes; compares its counts with this page
cargo xtask conformance server-tasks   # the rows whose name or scenario contains this text
```
";

const STRICTNESS: &str = "\
## What counts as passed

A scenario passes only if the suite made at least one check, and none of its checks failed. Stricter than the runner of the suite:

- A check with a warning is a failure.
- A client that is not done within 20 seconds, crashes, or exits with an error that the suite did not expect is a failure.
- A scenario that checked nothing is a failure. One exception is known: the suite skips `tasks-status-notifications` for every server,
  because its checks are not written yet.
- A suite that lists fewer scenarios than expected ends the run. There is no list of expected failures.

## How the rows are made

| side | what runs | door |
|---|---|---|
| client | the suite is the server, and `crates/host/examples/conformance_client.rs` the client: a small program on the crate | Streamable HTTP |
| server | the suite is the client. Between it and the server `mcparley-testkit upstream` stands `mcparley serve --http`. The upstream speaks the era of the row | `--one`: the names of the upstream. Default names: those of a gateway with several servers, behind a small client that takes their prefix off |

The version of the suite and all its dependencies are pinned in [`fleet/conformance`](../fleet/README.md#conformance). `.ci/run` runs
all rows and fails when a scenario fails, or when a count differs from this page.
";

/// One row of the page.
struct SelectionRow {
    side: &'static str,
    name: &'static str,
    revision: &'static str,
    /// The era of the server behind the gateway.
    upstream: &'static str,
    door: &'static str,
    subject: &'static str,
}

/// Writes the page from the rows of a whole run.
pub(super) fn write_page(rows: &[ScenarioRow]) -> Result<(), ChoreError> {
    let path = workspace::workspace_root().join(PAGE);
    std::fs::write(&path, render_page(&suite_version()?, rows)).map_err(ChoreError::file_error(&path))
}

/// Fails if the page differs from the rows of a whole run.
pub(super) fn check_page(rows: &[ScenarioRow]) -> Result<(), ChoreError> {
    let path = workspace::workspace_root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
    let rendered = render_page(&suite_version()?, rows);
    if page == rendered {
        return Ok(());
    }
    let rows = different_lines(&page, &rendered);
    Err(ChoreError::StalePage { page: PAGE, rows, hint: HINT })
}

/// The lines of the run that the page does not have.
fn different_lines(page: &str, rendered: &str) -> String {
    let new = rendered.lines().filter(|line| !page.lines().any(|other| other == *line));
    new.map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Renders the page.
pub(super) fn render_page(version: &str, rows: &[ScenarioRow]) -> String {
    let mut text = format!("{TOP}\nSuite version: {version}.\n\n");
    text.push_str(
        "| side | row | revision of the suite | server behind the gateway | door | scenarios | passed |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|\n");
    let mut sum = (0, 0);
    for selection in all_selections() {
        let own = rows.iter().filter(|row| row.scenario.selection == selection.name);
        let (passed, all) =
            own.fold((0, 0), |(passed, all), row| (passed + usize::from(row.is_passed()), all + 1));
        sum = (sum.0 + passed, sum.1 + all);
        let SelectionRow { side, name, revision, upstream, door, subject } = selection;
        // Writing to a `String` cannot fail.
        writeln!(
            text,
            "| {side} | `{name}` | {revision} | {upstream} | {door} | {subject} | {passed} of {all} |"
        )
        .unwrap_or_default();
    }
    writeln!(text, "| all | | | | | | {} of {} |\n\n{}", sum.0, sum.1, STRICTNESS.trim_end())
        .unwrap_or_default();
    text
}

fn all_selections() -> Vec<SelectionRow> {
    let client = SELECTIONS.iter().map(|selection| SelectionRow {
        side: "client",
        name: selection.name,
        revision: selection.revision,
        upstream: "",
        door: "Streamable HTTP",
        subject: selection.subject,
    });
    let server = LEGS.iter().map(|leg| SelectionRow {
        side: "server",
        name: leg.name,
        revision: leg.revision,
        upstream: if leg.era == "both" { "both eras" } else { leg.era },
        door: if leg.naming == LegNaming::Own { "HTTP, `--one`" } else { "HTTP, default names" },
        subject: leg.subject,
    });
    client.chain(server).collect()
}

/// The pinned version of the suite.
fn suite_version() -> Result<String, ChoreError> {
    let path = workspace::workspace_root().join(PIN);
    let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
    let pins: Value = serde_json::from_str(&text).unwrap_or_default();
    let version = pins.pointer(PACKAGE).and_then(Value::as_str).map(str::to_owned);
    version.ok_or(ChoreError::Silent { line: PIN.to_owned(), wanted: "the suite".to_owned() })
}
