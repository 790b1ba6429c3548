//! What things are and what is allowed: pure, without I/O, clock, environment or logging.
//!
//! Everything here is a value or a total function of values, so every rule can be shown by a table.
//!
//! | question | module |
//! |---|---|
//! | where does a value come from | [`scope`]; [`document`] reads files with their places, [`edit`] changes them |
//! | what does an entry say | [`config`], after [`expand`] |
//! | which entries are one server | [`signature`] |
//! | what would a command start | [`command_line`], [`program`]; what started this process: [`ancestry`] |
//! | who may say what about servers | [`settings`], [`policy`], [`approval`] |
//! | **what becomes of every declared server** | **[`plan`]**, the place to start reading |
//! | what is a tool, and what is it called | [`tool`], [`name`] |
//! | may it be called | [`permission`] |
//! | what else runs then | [`hook`] |
//! | what may be shown | [`secret`], [`text`] |
//! | what do other programs call their servers | [`import`] |
//! | how much is too much | [`limits`]; what a text costs a model: [`tokens`] |

pub mod ancestry;
pub mod approval;
pub mod command_line;
pub mod config;
pub mod document;
pub mod edit;
pub mod expand;
pub mod explain;
pub mod front_matter;
pub mod glob;
pub mod hex;
pub mod hook;
pub mod import;
pub mod limits;
pub mod log_level;
pub mod name;
pub mod permission;
pub mod plan;
pub mod policy;
pub mod program;
pub mod scope;
pub mod secret;
pub mod settings;
pub mod signature;
pub mod text;
pub mod tokens;
pub mod tool;
