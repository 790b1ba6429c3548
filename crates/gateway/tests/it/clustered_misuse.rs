//! Ids of another principal: all are refused with the text for an invented one, at every gateway, and are audited.

use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};

use crate::clustered::{A, B, EVENTS, Member, Pair, answered, asking, echo, post_able, wait_until};
use crate::door::{OpenDoors, call};

/// An id of client A that client B uses, and one that nothing has.
struct StolenId {
    theirs: Value,
    invented: Value,
    /// Sends a request of client B with an id; the answer without what repeats the request.
    kind: IdKind,
    /// The words of the audit log, of which one must be written.
    audited: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdKind {
    Session,
    ParkedState,
    Stream,
    Task,
}

impl StolenId {
    async fn use_id(&self, doors: &OpenDoors, id: &Value) -> (u16, Value) {
        let text = id.as_str().unwrap_or_default();
        let reply = match self.kind {
            IdKind::Session => {
                doors.post(&[("Mcp-Session-Id", text), B], &call(2, "one__echo", json!({}))).await
            }
            IdKind::ParkedState => {
                let parked = json!({ "result": { "requestState": id } });
                post_able(doors, B, answered(&parked, "Mallory")).await
            }
            IdKind::Stream => {
                let own = doors.initialize("2025-11-25", json!({}), &[B]).await;
                let headers = [("Mcp-Session-Id", own.as_str()), B, EVENTS, ("Last-Event-ID", text)];
                let mut reply = doors.send("GET /mcp", &headers, "").await;
                return (reply.status, reply.event().await.unwrap()["error"].clone());
            }
            IdKind::Task => {
                let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
                let params = json!({ "taskId": id });
                doors.post_capable(&[B, ("Mcp-Name", text)], "tasks/get", params, &can).await
            }
        };
        (reply.status, reply.json().await["error"].clone())
    }
}

async fn ids_of_calls(doors: &OpenDoors) -> Vec<StolenId> {
    let session = doors.initialize("2025-11-25", json!({ "elicitation": {} }), &[A]).await;
    let parked = post_able(doors, A, echo()).await.json().await;
    let theirs = [("Mcp-Session-Id", session.as_str()), A];
    let mut asked = doors.post(&theirs, &call(7, "one__echo", json!({ "message": "x" }))).await;
    let event = asked.line("id:").await.unwrap();
    // The same gateway and request, and no stream.
    let mut parts = event.splitn(3, '.');
    let (stream, rest) = (parts.next().unwrap(), parts.nth(1).unwrap());
    let invented = format!("{}00000000.0.{rest}", &stream[..8]);
    vec![
        StolenId {
            theirs: json!(session),
            invented: json!("mp1.AAAA"),
            kind: IdKind::Session,
            audited: &["session_of_another", "state_misuse"],
        },
        StolenId {
            theirs: parked["result"]["requestState"].clone(),
            invented: json!("mcparley-parked.mp1.AAAA"),
            kind: IdKind::ParkedState,
            audited: &["state_misuse"],
        },
        StolenId { theirs: json!(event), invented: json!(invented), kind: IdKind::Stream, audited: &[] },
    ]
}

async fn ids_of_tasks(doors: &OpenDoors) -> Vec<StolenId> {
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let chore = json!({ "name": "one__chore", "arguments": { "message": "swept" } });
    let created = doors.post_capable(&[A], "tools/call", chore, &can).await.json().await;
    let theirs = created["result"]["taskId"].clone();
    let (invented, audited) = (json!("task-1"), &["state_misuse"]);
    vec![StolenId { theirs, invented, kind: IdKind::Task, audited }]
}

/// The number of records with one of these words.
fn count_records(member: &Member, words: &[&str]) -> usize {
    let log = std::fs::read_to_string(member.served.world.audit_path()).unwrap_or_default();
    let has_word = |line: &&str| words.iter().any(|word| line.contains(&format!("\"{word}\"")));
    log.lines().filter(has_word).count()
}

async fn check_ids(pair: &Pair, ids: &[StolenId]) {
    for (gateway, member) in [&pair.one, &pair.two].into_iter().enumerate() {
        for id in ids {
            let before = count_records(member, id.audited);
            let invented = id.use_id(&member.doors, &id.invented).await;
            let stolen = id.use_id(&member.doors, &id.theirs).await;
            assert!(stolen.1["code"].is_i64(), "{:?} at {gateway}: {stolen:?}", id.kind);
            assert_eq!(stolen, invented, "{:?} at {gateway}", id.kind);
            if !id.audited.is_empty() {
                wait_until(async || count_records(member, id.audited) > before).await;
            }
        }
    }
}

// G4 G9 B93
#[tokio::test]
async fn ids_of_another_principal_are_refused_like_invented_ones_at_every_gateway_and_audited() {
    let pair = Pair::start(asking).await;
    check_ids(&pair, &ids_of_calls(&pair.one.doors).await).await;
    let server = || ScriptedStdio::new(&["task:1"]).with_option("--versions", "2026-07-28");
    let pair = Pair::start(server).await;
    check_ids(&pair, &ids_of_tasks(&pair.one.doors).await).await;
}
