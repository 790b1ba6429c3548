//! Shared code of the benchmark programs: the client without a library, and servers with many tools.
//!
//! | program | purpose |
//! |---|---|
//! | `mcparley-bench` | measures and prints the table |
//! | `mcparley-bench-server` | a server so light that its own cost is negligible |
//! | `mcparley-bench-target` | a server that the soak test kills |
//! | `mcparley-bench-limit` | starts servers, does the handshake and lists their tools at the least possible
//! cost |
//! | `mcparley-bench-relay` | moves bytes between a client and a server: the limit of a gateway |
//! | `mcparley-bench-heap` | measures the heap of a host with many tools |

pub mod inside;
pub mod raw;
