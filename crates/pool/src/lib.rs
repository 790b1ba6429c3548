//! Live connections to MCP servers: connecting, keeping alive, answering server requests, sharing between
//! hosts.
//!
//! | step, in the order of the data | module |
//! |---|---|
//! | the program, URL or handler behind an entry | [`launch`], [`organization`], [`connect`]: [`connect::Dialer`] |
//! | answers to requests of servers | [`server_requests`] with [`client_services`], the [`client_offer`] and the [`call_client`] of a call: [`elicit`], [`sample`], [`roots`] |
//! | caches of tool lists, protocol eras and sign-in needs | [`caches`]: [`catalog_cache`], `era_cache`, [`needs_auth`] |
//! | the limit on servers that start at once | [`start_gate`] |
//! | the tools, prompts and resources of a server | [`surface`] |
//! | **one server, kept alive by one actor** | **[`connection`]**, the place to start reading |
//! | logs of servers, with secrets redacted and rate limited | [`log`], [`redact`], [`token_bucket`] |
//! | **every connection of a process, shared by key** | **[`pool`]** by [`pool_key`] |
//! | **the clients that may use one process of a local server** | **[`share`]** |
//! | one-shot health checks of servers | [`health`] |
//! | servers that the daemon runs, for its clients and in the daemon | [`attach`], [`hosted_server`] |
//! | tasks that end with their owner, and explored schedules in tests | [`task`] |

pub mod attach;
#[cfg(feature = "http")]
pub use mcparley_auth as auth;
#[cfg(not(feature = "http"))]
#[path = "without_auth.rs"]
pub mod auth;
pub mod caches;
pub mod call_client;
pub mod catalog_cache;
pub mod client_line;
pub mod client_offer;
pub mod client_services;
pub mod connect;
pub mod connect_error;
pub mod connection;
pub mod elicit;
mod era_cache;
#[cfg(test)]
mod explore;
mod hash;
pub mod health;
pub mod host_id;
pub mod hosted_server;
mod jitter;
pub mod launch;
pub mod log;
pub mod needs_auth;
pub mod notice_channel;
pub mod organization;
pub mod pool;
pub mod pool_key;
pub mod principal;
pub mod redact;
pub mod roots;
pub mod sample;
pub mod server_requests;
pub mod share;
pub mod start_gate;
pub mod started_process;
pub mod surface;
pub mod task;
pub mod token_bucket;
