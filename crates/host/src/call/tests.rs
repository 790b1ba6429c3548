//! The size of a call's future while it waits.

use std::path::Path;

use serde_json::json;

use super::Call;
use crate::host::Host;
use mcparley_config::Paths;
use mcparley_config::RunOptions;

/// Most of it is the request itself; rare parts are boxed. 64 bytes are for the span of the caller, which a new
/// connection belongs to, and for the choice whether the request has a span.
const MOST: usize = 2640;

// K1
#[tokio::test]
async fn future_of_a_waiting_call_is_small() {
    let nowhere = Path::new("/nowhere");
    let host = Host::builder(&Paths::new(nowhere, nowhere), &RunOptions::default())
        .without_built_in_server()
        .start();
    let call = host.call(Call::new("mcp__it__work", json!({})));
    let size = size_of_val(&call);
    assert!(size <= MOST, "{size} bytes");
}
