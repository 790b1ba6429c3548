//! Classification of handshake errors.

use mcparley_model::text::Untrusted;

use super::*;

fn answered(code: i64, data: Option<&str>) -> RpcError {
    let data = data.map(|data| RawJson::parse(data).unwrap());
    RpcError { code, message: Untrusted::new("no"), data }
}

// T9
#[test]
fn error_of_the_new_era_does_not_lead_to_initialize() {
    for (code, data, expected) in [
        (-32020, None, true),
        (-32021, None, true),
        (-32022, Some(r#"{"supported":["2027-01-01"]}"#), true),
        (-32022, Some(r#"{"supported":["2027-01-01","2025-11-25"]}"#), false),
        (-32022, Some(r#"{"supported":[]}"#), false),
        (-32022, Some(r#"{"supported":7}"#), false),
        (-32022, None, false),
        (-32601, None, false),
        (-32602, None, false),
        (-32000, None, false),
    ] {
        assert_eq!(is_new_only(&answered(code, data)), expected, "{code} {data:?}");
    }
}

// T2 T9
#[test]
fn only_plain_client_errors_may_mean_the_legacy_transport() {
    let status = |code| Failure::Status { code, retry_after: None, text: Untrusted::new("") };
    for code in [400, 404, 405, 406, 415, 422] {
        assert!(may_be_legacy(&status(code)), "{code}");
    }
    for code in [408, 429, 500, 502, 503] {
        assert!(!may_be_legacy(&status(code)), "{code}");
    }
    assert!(!may_be_legacy(&Failure::Unauthorized { challenge: None }));
    assert!(!may_be_legacy(&Failure::Forbidden { challenge: None }));
    assert!(!may_be_legacy(&Failure::ErrorResponse(answered(-32601, None))));
}
