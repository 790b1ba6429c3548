//! Tests of the rules by which messages are checked, with messages that break them.

use serde_json::{Value, json};

use super::record::RecordReport;
use super::{NEW, client_message_violation, protocol_revisions, schema_violation, server_message_violation};

fn request(method: &str, mut params: Value, revision: &str) -> Value {
    if revision == NEW {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

// T9
#[test]
fn every_revision_accepts_valid_messages_of_a_client_and_refuses_wrong_ones() {
    for revision in protocol_revisions() {
        let call = request("tools/call", json!({ "name": "echo", "arguments": { "a": 1 } }), revision);
        assert_eq!(client_message_violation(revision, &call), None);
        let broken: [fn(&mut Value); 5] = [
            |call| call["params"]["name"] = json!(1),
            |call| call["params"]["arguments"] = json!([]),
            |call| call["method"] = json!("tools/run"),
            |call| call["id"] = json!({}),
            |call| call["jsonrpc"] = json!("1.0"),
        ];
        for (index, breaking) in broken.iter().enumerate() {
            let mut call = call.clone();
            breaking(&mut call);
            assert!(
                client_message_violation(revision, &call).is_some(),
                "{revision} accepts no. {index}: {call}"
            );
        }
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        assert_eq!(client_message_violation(revision, &cancel), None);
        let wrong =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": [] } });
        assert!(client_message_violation(revision, &wrong).is_some());
    }
}

// T9
#[test]
fn method_of_an_extension_is_checked_as_a_request_and_a_misspelled_one_is_refused() {
    for revision in protocol_revisions() {
        let violation =
            |method: &str| client_message_violation(revision, &request(method, json!({}), revision));
        assert_eq!(violation("vendor/do"), None);
        assert_eq!(violation("skills/list"), None);
        assert!(violation("tools/lists").is_some(), "{revision}");
        assert!(violation("server/discovery").is_some(), "{revision}");
        let without_id = json!({ "jsonrpc": "2.0", "id": null, "method": "vendor/do" });
        assert!(client_message_violation(revision, &without_id).is_some(), "{revision}");
    }
}

// T9
#[test]
fn notification_of_an_extension_passes_and_a_misspelled_one_is_refused() {
    for revision in protocol_revisions() {
        let violation = |method: &str| {
            let notice = json!({ "jsonrpc": "2.0", "method": method, "params": { "own": [1] } });
            client_message_violation(revision, &notice)
        };
        assert_eq!(violation("notifications/vendor/event"), None, "{revision}");
        assert!(violation("notifications/canceled").is_some(), "{revision}");
        assert!(violation("notifications/roots/list_change").is_some(), "{revision}");
    }
}

// T9
#[test]
fn replies_of_a_client_are_recognized_by_their_members() {
    let reply = |result: Value| json!({ "jsonrpc": "2.0", "id": "ask-1", "result": result });
    let good = [json!({ "action": "decline" }), json!({ "roots": [{ "uri": "file:///a" }] }), json!({})];
    for result in good {
        assert_eq!(client_message_violation("2025-11-25", &reply(result)), None);
    }
    let bad = [
        json!({ "action": "maybe" }),
        json!({ "roots": [{}] }),
        json!({ "model": "m" }),
        json!({ "accepted": true }),
        json!(1),
    ];
    for result in bad {
        assert!(client_message_violation("2025-11-25", &reply(result.clone())).is_some(), "{result}");
    }
    let form = |value: Value| reply(json!({ "action": "accept", "content": { "field": value } }));
    for value in [json!(0.5), json!(3), json!("a"), json!(true)] {
        for revision in ["2025-06-18", "2025-11-25"] {
            assert_eq!(client_message_violation(revision, &form(value.clone())), None);
        }
        // Here the answer is a member of the next request.
        assert_eq!(schema_violation(NEW, "ElicitResult", &form(value)["result"]), None);
    }
    assert!(client_message_violation("2025-11-25", &form(json!({}))).is_some());
    assert!(schema_violation(NEW, "ElicitResult", &form(json!({}))["result"]).is_some());
    // There was no elicitation yet.
    assert!(client_message_violation("2025-03-26", &reply(json!({ "action": "decline" }))).is_some());
}

// T9 G2
#[test]
fn answer_of_a_server_is_checked_as_the_result_of_its_method() {
    for revision in protocol_revisions() {
        let mut result = json!({ "content": [{ "type": "text", "text": "a" }] });
        if revision == NEW {
            result["resultType"] = json!("complete");
        }
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        assert_eq!(server_message_violation(revision, Some("tools/call"), &answer), None);
        assert!(server_message_violation(revision, Some("tools/list"), &answer).is_some(), "{revision}");
        assert!(server_message_violation(revision, None, &answer).is_some(), "{revision}");
    }
}

// T9
#[test]
fn report_counts_messages_and_is_complete_only_with_every_revision_in_both_directions() {
    let mut report = RecordReport::default();
    for revision in protocol_revisions() {
        assert!(!report.is_complete());
        let call = request("tools/list", json!({}), revision);
        report.check_entry(&json!({ "to": "server", "revision": revision, "message": call }));
        report.check_entry(&json!({ "to": "client", "revision": revision }));
    }
    assert!(report.is_complete(), "{report}");
    assert!(report.to_string().contains("10 messages checked"), "{report}");
    report.check_entry(&json!({ "to": "server", "revision": "2025-11-25", "text": "{" }));
    assert!(!report.is_valid());
    assert!(report.to_string().contains("invalid, 1 times: no JSON: \"{\""), "{report}");
}
