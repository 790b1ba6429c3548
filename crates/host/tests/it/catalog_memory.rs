//! The heap memory of thousands of tools: little more than their JSON.
//!
//! Every byte of this program's heap is counted, so the measuring is done in a process of its own.

use std::alloc::System;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::alive::{Alive, LONG, scripted, servers, with};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SERVERS: usize = 4;
const TOOLS: usize = 1000;

// N11 L11
#[test]
fn heavy_thousands_of_tools_hold_at_most_half_more_than_their_json() {
    mcparley_testkit::run_in_own_process("catalog_memory::alone_in_its_process").unwrap();
}

#[tokio::test]
#[ignore = "started by the test above, in a process of its own"]
async fn alone_in_its_process() {
    // All hosts live to the end: memory freed by one would be subtracted from the next.
    let _first = held(1, usize::MAX).await;
    let (few, _second) = held(1, usize::MAX).await;
    let json = SERVERS * list(TOOLS).to_string().len();
    let most = few + json * 3 / 2;
    let (many, alive) = held(TOOLS, most).await;
    assert!(many <= most, "{} bytes for {json} bytes of JSON", many - few);
    // All of it was there.
    assert!(alive.host.publish_catalog().iter().len() > SERVERS * TOOLS);
}

/// The memory of a host of servers with so many tools, once it is at most `most` or waiting is in vain.
async fn held(tools: usize, most: usize) -> (usize, Alive) {
    let names: Vec<String> = (0..SERVERS).map(|number| format!("server_{number}")).collect();
    let making = servers([]);
    let offers = making.path("offers.json");
    let making = making.file("offers.json", &json!({ "tools/list": list(tools) }));
    let script = format!("offers:{}", offers.display());
    // Entries that are the same would be one server.
    let entry = |name: &str| with(scripted(&[&script]), "env", json!({ "NAME": name }));
    let making = names.iter().fold(making, |making, name| making.with_server(name, entry(name)));
    let before = live();
    let alive = making.start_in(|paths| {
        paths.cache = Some(paths.home.join("cache"));
        paths.trust = Some(paths.home.join("trust"));
    });
    assert!(alive.host.wait_until_ready(LONG).await.settled);
    let catalog = alive.host.publish_catalog();
    assert!(catalog.iter().len() >= SERVERS * tools);
    let begun = Instant::now();
    // Read buffers are freed once no more messages come.
    while live() - before > most && begun.elapsed() < LONG {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (live() - before, alive)
}

/// A list of tools of usual size.
fn list(tools: usize) -> Value {
    let tool = |number: usize| {
        json!({
            "name": format!("update_invoice_{number}"),
            "description": "Will update the invoice that belongs to a customer. Give the number of the invoice, and \
                of the customer if it is known. Returns what has changed, with the date and whoever did it.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "invoice_id": { "type": "string", "description": "Number of the invoice" },
                    "customer_id": { "type": "string", "description": "Number of the customer, if known" },
                    "since": { "type": "string", "format": "date-time", "description": "Leave out what is older" },
                    "fields": { "type": "array", "items": { "type": "string" }, "description": "What to return" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50 },
                },
                "required": ["invoice_id"],
                "additionalProperties": false,
            },
            "annotations": { "readOnlyHint": false },
        })
    };
    json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() })
}

fn live() -> usize {
    let stats = HEAP.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}
