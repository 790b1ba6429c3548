//! The page with the expectations of the matrix, compared with the file in the documentation.

use std::fmt::Write as _;
use std::path::Path;

use crate::matrix::cell::{Cell, Door, Feature, Revision, Sight, Transport};

const PAGE: &str = "../../docs/reference/era-matrix.md";

const HEAD: &str = "<!-- Written by the tests of the gateway with `MCPARLEY_UPDATE_PAGES=1`; do not edit. -->

# Era matrix

What a client sees of each feature through the gateway, by the era of the client and of the server. The *old era* are the
revisions 2024-11-05 to 2025-11-25, the *new era* is 2026-07-28. Each cell is tested with every revision of its eras, with the
client over stdio and HTTP, with the server over stdio and HTTP, for all servers together and for one server unchanged
(`--one`). HTTP is HTTP+SSE for 2024-11-05 and Streamable HTTP for the others. Every message that the client or the server gets
is checked against the JSON Schema of its revision.

| feature | old client, old server | old client, new server | new client, old server | new client, new server |
|---|---|---|---|---|
";

const MIDDLE: &str = "
A feature needs a server and a client of a revision that has it:

| feature | servers since | clients since | tested cells |
|---|---|---|---|
";

fn feature_name(feature: Feature) -> &'static str {
    match feature {
        Feature::Call => "call",
        Feature::Progress => "progress",
        Feature::Form => "elicitation, form",
        Feature::Url => "elicitation, URL",
        Feature::Sampling => "sampling",
        Feature::Roots => "roots",
        Feature::Cancel => "cancellation",
        Feature::ListChange => "list change",
        Feature::Subscription => "resource subscription",
        Feature::Log => "log messages",
        Feature::Task => "task",
    }
}

fn describe(feature: Feature, sight: Sight) -> &'static str {
    match sight {
        Sight::Result => "the result",
        Sight::ProgressOfRequest => "progress under the client's own token",
        Sight::Request => "a request during the call",
        Sight::SessionRequest => "a request, once for the session",
        Sight::CountedKeys => match feature {
            Feature::Sampling => "`input_required` with the keys `sampling-1`, …; the call waits",
            Feature::Roots => "`input_required` with the keys `roots-1`, …; the call waits",
            _ => "`input_required` with the keys `elicitation-1`, …; the call waits",
        },
        Sight::ServerKeys => "`input_required` with the server's keys",
        Sight::Canceled => "no answer; the server has stopped",
        Sight::Notification => "a notification",
        Sight::SubscribedNotification => "a notification on its `subscriptions/listen`",
        Sight::SessionLog => "messages by the level of `logging/setLevel`",
        Sight::RequestLog => "messages by the level in the request",
        Sight::OldTask => "a task of 2025-11-25",
        Sight::ExtensionTask => "a task of the extension",
        Sight::FollowedTask => "the result; the gateway follows the task",
    }
}

/// The expectations of the newest client and server of two eras. Older clients may see something else.
fn describe_cell(feature: Feature, client: Revision, server: Revision) -> String {
    let cell = |client| Cell {
        client,
        server,
        down: Door::Stdio,
        up: Transport::Stdio,
        is_transparent: false,
        feature,
    };
    let newest = cell(client).expect();
    let older = Revision::ALL.into_iter().filter(|older| *older < client && !client.is_new());
    let other = older.map(cell).filter(Cell::exists).map(|cell| cell.expect()).find(|seen| *seen != newest);
    match other {
        Some(other) => {
            format!("{}; before {}: {}", describe(feature, newest), client.as_str(), describe(feature, other))
        }
        None => describe(feature, newest).to_owned(),
    }
}

fn page() -> String {
    let (old, new) = (Revision::R2025November, Revision::R2026July);
    let mut page = HEAD.to_owned();
    for feature in Feature::ALL {
        let cells = [(old, old), (old, new), (new, old), (new, new)];
        let cells = cells.map(|(client, server)| describe_cell(feature, client, server));
        writeln!(page, "| {} | {} |", feature_name(feature), cells.join(" | ")).unwrap();
    }
    page += MIDDLE;
    let mut all = 0;
    for feature in Feature::ALL {
        let count = Cell::all().filter(|cell| cell.feature == feature && cell.exists()).count();
        all += count;
        let since = [feature.server_since(), feature.client_since()].map(Revision::as_str);
        writeln!(page, "| {} | {} | {count} |", feature_name(feature), since.join(" | ")).unwrap();
    }
    writeln!(page, "| all | | | {all} |").unwrap();
    page
}

#[test]
fn page_of_the_matrix_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, page(), "write it with `MCPARLEY_UPDATE_PAGES=1`");
}
