//! What a call costs while it waits.

use std::path::Path;

use serde_json::json;

use super::Call;
use crate::host::Host;
use crate::paths::Paths;
use crate::sources::RunOptions;

/// Most of it is the request itself; what happens rarely is put aside.
const MOST: usize = 2560;

// K1
#[tokio::test]
async fn a_call_that_waits_is_small() {
    let nowhere = Path::new("/nowhere");
    let host =
        Host::builder(&Paths::of(nowhere, nowhere), &RunOptions::default()).without_own_server().start();
    let call = host.call(Call::new("mcp__it__work", json!({})));
    let size = size_of_val(&call);
    assert!(size <= MOST, "{size} bytes");
}
