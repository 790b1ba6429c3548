//! What the programs of the benchmark share: the client without a library, and servers with many tools.
//!
//! | program | what it is |
//! |---|---|
//! | `mcparley-bench` | measures and prints the table |
//! | `mcparley-bench-server` | a server so light that it is never what is measured |
//! | `mcparley-bench-target` | a server that is there to be killed, for the soak |
//! | `mcparley-bench-limit` | starts servers, greets them and lists their tools with as little as possible |
//! | `mcparley-bench-heap` | counts the heap of a host with many tools |

pub mod inside;
pub mod raw;
