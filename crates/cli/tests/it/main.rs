//! What the program does, run as people run it: real files, real arguments, its own environment.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests prepare files, start the program, and fail loudly"
)]

mod add;
mod agents;
mod alias;
mod ask;
mod broken_files;
mod call;
mod call_life;
mod call_result;
mod choices;
mod completion;
mod connect;
mod connectors;
mod console;
mod daemon;
mod dialogs;
mod display;
mod doctor;
mod documents;
mod durable;
mod exit_codes;
mod fleet;
mod flows;
mod follow;
mod health;
mod help;
mod hooks;
mod ide;
mod import;
mod kept;
mod killed;
mod known_failures;
mod log_times;
mod managed;
mod parallel;
mod paths;
mod pending;
mod permission_review;
mod permission_rules;
mod permissions;
mod progress;
mod prompts;
mod read_only;
mod reconnect;
mod recursion;
mod refused;
mod removed;
mod resources;
mod rules_hold;
mod screen;
mod search;
mod search_vectors;
mod secrets;
mod serve;
mod serve_http;
mod sign_in;
mod signals;
mod skills;
mod talk;
mod tasks;
mod team_files;
mod terminal;
mod tmux;
mod tool_paths;
mod tools;
mod tour;
mod traces;
mod trust;
mod typed_servers;
mod ui;
mod unprivileged;
mod world;
