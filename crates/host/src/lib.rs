//! The MCP host runtime: live servers, their tools, and one call from end to end. The crate that agents
//! embed.
//!
//! | to | start at |
//! |---|---|
//! | set the location of files and the options of a run | [`Paths`], [`RunOptions`] |
//! | add servers in code: programs, URLs, closures of this program | [`ServerEntry`], [`InProcessServer`] |
//! | answer the requests of an in-process server yourself | [`protocol::Handler`] → [`HostBuilder::in_process_handler`] |
//! | keep every server alive, list their tools, call them | [`Host`] |
//! | choose the tools a model is shown | [`catalog::Catalog`] → [`catalog::ModelOffer`] within a [`catalog::Budget`] |
//! | find a tool | [`catalog::SearchQuery`] → [`Host::search_tools`] |
//! | call a tool, and understand its outcome | [`Call`] → [`CallOutcome`], [`CallError`] |
//! | store results that are too long for a model | [`results::ResultStore`] |
//! | offer the servers' prompts as commands | [`Host::prompts`] → [`prompt::Prompts`], [`prompt::PromptCall`] → [`prompt::PromptMessages`] |
//! | read the resources of servers | [`Host::resources`] → [`resource::Resources`], [`Host::read_resource`], [`Host::subscribe_to_resource`], [`Host::read_mentions`] |
//! | load the servers' skills | [`Host::skills`] → [`catalog::Skill`], [`Host::load_skill`] |
//! | give a model the servers' instructions | [`Host::instructions`] → [`instruction::Instructions`] |
//! | give an agent its own view, with servers of its own | [`AgentSpec`] → [`Agent`] |
//! | answer permission questions for a user | [`Approver`]; questions that servers ask: [`elicit`] |
//! | let servers sample from a model | [`sample`] |
//! | run code around calls, and change them | [`hooks`] |
//! | sign in to a server | [`Host::sign_in`] → [`auth::Flow`], [`call::PageOpener`] |
//! | see the status of every configured server | [`config::load_config`] → [`config::LoadedConfig`] |
//! | add, remove, enable, disable and approve servers | [`config::change`] |
//! | use the connectors of an organization | [`pool::organization::Organization`] → [`config::ConnectorList`] |
//! | import servers of other programs | [`config::import`] |
//! | connect to one server, and list its tools | [`pool::connect::ConnectContext`], [`pool::surface::Surface`] |
//! | follow the logs that other programs write | [`pool::log::LogFollower`] |
//! | check which servers answer | [`pool::health::HealthCheck`] |
//!
//! The crate never reads its surroundings: home, working directory and environment are passed in. Only
//! [`Paths::for_current_user`] and [`RunOptions::with_process_env`] read them, when a program calls them.
//!
//! ```
//! use std::time::Duration;
//! use mcparley::{Call, Host, Paths, RunOptions};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let project = home.path().join("project");
//! # std::fs::create_dir(&project)?;
//! let paths = Paths::new(home.path(), &project);
//! let run_options = RunOptions { allowed_tools: vec!["mcp__mcparley".into()], ..RunOptions::default() };
//! let host = Host::builder(&paths, &run_options).start();
//! host.wait_until_ready(Duration::from_secs(10)).await;
//!
//! let outcome = host.call(Call::new("mcp__mcparley__echo", json!({ "message": "hello" }))).await?;
//! assert_eq!(outcome.to_text(), "hello");
//! host.shut_down().await;
//! # Ok(())
//! # }
//! ```

mod agent_error;
mod audit;
mod builder;
pub mod call;
mod call_error;
mod client_roots;
mod closures;
pub mod complete;
pub mod hooks;
pub mod host;
mod in_process;
mod inspection_server;
pub mod instruction;
mod page_opener;
pub mod permission;
pub mod prompt;
pub mod protocol;
mod reconnect_request;
mod reload;
pub mod resource;
pub mod search;
mod search_vectors;
mod server_logs;
mod sign_in;
pub mod skill;

pub use mcparley_catalog as catalog;
pub use mcparley_config as config;
pub use mcparley_model as model;
pub use mcparley_pool as pool;
pub use mcparley_pool::auth;
pub use mcparley_results as results;

pub use builder::HostBuilder;
pub use call::{Call, CallContext};
pub use call_error::CallError;
pub use hooks::Hooks;
pub use host::{Agent, Host};
pub use in_process::InProcessServer;
pub use mcparley_config::{AgentSpec, Paths, RunOptions, ServerEntry};
pub use mcparley_pool::elicit::Elicitor;
pub use mcparley_pool::pool::Pool;
pub use mcparley_pool::sample::Sampler;
pub use mcparley_pool::{elicit, sample};
pub use mcparley_results::{CallOutcome, ContentBlock};
pub use mcparley_wire::peer::BoxedFuture;
pub use permission::{Approver, PermissionAnswer, PermissionQuestion};
