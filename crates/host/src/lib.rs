//! What is alive, and one call from end to end: the crate other agents embed.
//!
//! | to | start at |
//! |---|---|
//! | say where files are and what is wanted | [`Paths`], [`RunOptions`] |
//! | keep every server alive, list their tools, call them | [`Host`] |
//! | know what a model is shown | [`Catalog`] → [`Offer`] within a [`Budget`] |
//! | find a tool | [`SearchQuery`] → [`Host::search`] |
//! | make one call, and understand what came of it | [`Call`] → [`Outcome`], [`CallError`] |
//! | keep what is too long for a model elsewhere | [`ResultStore`] |
//! | offer the servers' prompts as commands | [`Host::prompts`] → [`Prompts`], [`PromptCall`] → [`PromptMessages`] |
//! | read what servers have | [`Host::resources`] → [`Resources`], [`Host::read_resource`], [`Host::subscribe`], [`Host::mentions`] |
//! | have the servers' skills | [`Host::skills`] → [`Skill`], [`Host::skill`] |
//! | tell a model how servers want to be used | [`Host::instructions`] → [`Instructions`] |
//! | give an agent its own view, with servers of its own | [`AgentSpec`] → [`Agent`] |
//! | answer for a person | [`Approver`]; what servers ask: [`elicit`] |
//! | let servers ask a model | [`sample`] |
//! | run something beside calls, and change them | [`hooks`] |
//! | sign in to a server | [`Host::sign_in`] → [`Flow`], [`PageOpener`] |
//! | know what becomes of every configured server | [`load`] → [`Loaded`] |
//! | add, remove, switch, approve | [`change`] |
//! | have the connectors of an organisation | [`Organisation`] → [`Known`] |
//! | take over servers of other programs | [`import`] |
//! | talk to one server, and know what it offers | [`Surroundings`], [`Surface`] |
//! | see which servers answer | [`Checkup`] |
//! | find out why one does not, and what to do | [`Doctor`] → [`Examined`], [`Finding`] |
//!
//! The crate never looks around: home, working directory and environment are handed in.
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
//! let paths = Paths::of(home.path(), &project);
//! let run_options = RunOptions { allowed_tools: vec!["mcp__mcparley".into()], ..RunOptions::default() };
//! let host = Host::builder(&paths, &run_options).start();
//! host.ready(Duration::from_secs(10)).await;
//!
//! let outcome = host.call(Call::new("mcp__mcparley__echo", json!({ "message": "hello" }))).await?;
//! assert_eq!(outcome.text(), "hello");
//! host.shut_down().await;
//! # Ok(())
//! # }
//! ```

mod agent;
mod audit;
mod base64_text;
mod call;
mod catalog;
mod chance;
pub mod change;
mod complete;
mod connect;
mod connection;
mod doctor;
pub mod elicit;
#[cfg(test)]
mod explore;
mod health;
pub mod hooks;
mod host;
pub mod import;
mod instruction;
mod launch;
mod log;
mod organisation;
mod own_server;
mod paths;
mod prompt;
mod reconnect_requests;
mod redact;
mod reload;
mod resource;
mod results;
mod roots;
pub mod sample;
mod search;
mod sign_in;
mod skill;
mod sources;
mod start_gate;
mod surface;
mod task;
mod token_bucket;
mod trust;

pub use mcparley_model as model;

pub use agent::{AgentError, AgentSpec, Missing};
pub use base64_text::decode as decode_base64;
pub use call::{
    Admission, AlwaysScope, Answer, Approver, Block, Body, ByHistory, Call, CallError, Case, Classifier,
    Consent, Executed, Misfit, NobodyToAsk, Opinion, Outcome, PendingCall, Person, Question, RequestError,
    pending_calls,
};
pub use catalog::{
    Budget, BudgetError, BuiltIn, Catalog, ChangedTool, Dialect, Entry, Found, Mention, ModelCallError,
    ModelTools, Offer, Provider, SearchQuery, SignInTool, Unfound, UnknownDialect, Withholding,
};
pub use complete::{CompleteError, Completion, Reference};
pub use connect::{ConnectError, Link, Passed, Stage, Surroundings};
pub use connection::{Event, State, Status, Unavailable};
pub use doctor::{Diagnosis, Doctor, Examined, Finding, Offers, Trouble, Verdict, Weight};
pub use elicit::Elicitor;
pub use health::{Care, CheckEvent, Checked, Checkup, Health, Stray};
pub use hooks::Hooks;
pub use host::{Agent, Host, HostBuilder, HostState, Readiness, Remembered, Server, Start};
pub use instruction::{Instruction, Instructions, InstructionsDelta};
pub use launch::launch;
pub use log::{LogLine, LogMessage, Speaker, read_logs};
pub use mcparley_wire::peer::{Boxed, Progress};
pub use organisation::{ConnectorError, Organisation, StoredToken, TokenSource};
pub use paths::Paths;
pub use prompt::{Prompt, PromptArgument, PromptCall, PromptError, PromptMessage, PromptMessages, Prompts};
pub use reload::Change;
pub use resource::{
    Annotations, Mentioned, MentionedResource, Resource, ResourceContents, ResourceError, ResourceTemplate,
    Resources, Subscription, TemplateError,
};
pub use results::{Handle, Piece, ResultStore, StoreError, Stored};
pub use roots::Root;
pub use sample::Sampler;
pub use search::{Absence, Absent, Search};
pub use sign_in::{
    Account, Accounts, Cause, Flow, IdentitySettings, NobodyToShow, Page, PageOpener, Revoked, SignInError,
    SignInStanding, SignedOut, Way,
};
pub use skill::{LoadedSkill, Skill, SkillError, SkillFile};
pub use sources::{
    Agents, Connector, Connectors, Editor, Known, Loaded, NoConnectors, Problem, RunOptions, SettingSource,
    Severity, agents, load, load_as_if_approved,
};
pub use surface::{Cut, Gap, Surface, Why};
