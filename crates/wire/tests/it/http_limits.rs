//! Oversized responses: refused at the limit, in bounded memory.

use std::time::Instant;

use mcparley_testkit::{HttpServer, run_in_own_process};
use mcparley_wire::Failure;
use serde_json::json;

use crate::http_world::old;
use crate::sse::legacy;
use crate::world::{LONG, call};

pub(crate) const MIB: u64 = 1024 * 1024;

type Check = fn(&Failure) -> bool;

// F40 F41 F42 H24
#[test]
fn endless_response_is_refused_in_bounded_memory() {
    run_in_own_process("http_limits::alone_in_its_process").unwrap();
}

#[tokio::test]
#[ignore = "started by the test above, in a process of its own"]
async fn alone_in_its_process() {
    let too_large: Check =
        |failure| matches!(failure, Failure::TooLarge { limit } if *limit as u64 == 16 * MIB);
    let cases: [(&str, Check); 6] = [
        ("sse-inf:1024", too_large),
        ("json-big:400", too_large),
        ("huge:32", too_large),
        ("huge-id-last:32", too_large),
        ("reply-on-get huge:32", too_large),
        ("err-big:400", |failure| matches!(failure, Failure::Status { code: 500, .. })),
    ];
    for (script, check) in cases {
        let scripts: Vec<&str> = script.split(' ').collect();
        let server = HttpServer::start_with(&scripts, &["--answer", "sse"]);
        let connected = old(&server).await;
        let (before, start) = (peak(), Instant::now());
        let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
        assert!(check(&failure), "{script}: {failure:?}");
        let grown = peak() - before;
        assert!(grown <= 64 * MIB, "{script}: {} MiB more", grown / MIB);
        assert!(start.elapsed() < LONG);
    }
    let server = HttpServer::start(&["legacy-sse-only", "huge:32"]);
    let connected = legacy(&server).await;
    let before = peak();
    let failure = call(&connected, "echo", json!({"message": "x"})).await.unwrap_err();
    assert!(too_large(&failure), "{failure:?}");
    assert!(peak() - before <= 64 * MIB, "{} MiB more", (peak() - before) / MIB);
}

/// Peak memory of this process, in bytes.
#[expect(clippy::disallowed_methods, reason = "the kernel writes it, and it is short")]
pub(crate) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
