//! The vocabulary and rules of mcparley: pure functions of values, without I/O, clock, environment or
//! logging.
//!
//! The items here are values or total functions of values, so every rule can be tested by a table.
//!
//! | question | module |
//! |---|---|
//! | where does a value come from | [`scope`]; [`document`] parses files |
//! | how is a server configured | [`config`], after [`expand`] |
//! | which entries are the same server | [`signature`] |
//! | which programs would a command start | [`command_line`], [`program`] |
//! | which servers started this process | [`ancestry`] |
//! | which settings, policies and approvals apply | [`settings`], [`policy`], [`approval`] |
//! | which clients may use a view of a gateway | [`principal_match`] |
//! | how is a tool defined and named | [`tool`], [`name`] |
//! | may a tool be called | [`permission`], [`trust`] |
//! | which hooks run beside a call | [`hook`] |
//! | how are times and durations written as numbers | [`time`] |
//! | which text is masked or escaped | [`secret`], [`text`] |
//! | which name did the user mean | [`similar`] |
//! | which limits apply | [`limits`] |

pub mod ancestry;
pub mod approval;
pub mod command_line;
pub mod config;
pub mod document;
pub mod expand;
pub mod explain;
pub mod glob;
pub mod hex;
pub mod hook;
pub mod limits;
pub mod log_level;
pub mod name;
pub mod permission;
pub mod policy;
pub mod principal_match;
pub mod program;
pub mod scope;
pub mod secret;
pub mod settings;
pub mod signature;
pub mod similar;
pub mod text;
pub mod time;
pub mod tool;
pub mod trust;
