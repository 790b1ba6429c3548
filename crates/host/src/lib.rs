//! What is alive, and one call from end to end: the crate other agents embed.
//!
//! Today it reads, judges and edits the configuration of MCP servers, and talks to them; keeping
//! connections alive and the call pipeline come next.
//!
//! | to | start at |
//! |---|---|
//! | say where files are and what is wanted | [`Places`], [`Wishes`] |
//! | know what becomes of every configured server | [`load`] → [`Loaded`] |
//! | add, remove, switch, approve | [`change`] |
//! | take over servers of other programs | [`import`] |
//! | talk to a server, and know what it offers | [`connect()`], [`Surface`] |
//! | see which servers answer | [`Checkup`] |
//!
//! The crate never looks around: home, working directory and environment are handed in.
//!
//! ```
//! use mcparley::{NoConnectors, Places, Wishes, load};
//! use mcparley::model::plan::Plan;
//! # fn main() -> Result<(), std::io::Error> {
//! # let home = tempfile::tempdir()?;
//! # let project = home.path().join("project");
//! # std::fs::create_dir(&project)?;
//! let places = Places::of(home.path(), &project);
//! let loaded = load(&places, &Wishes::default(), &NoConnectors);
//! for server in &loaded.plan.servers {
//!     println!("{}: {}", server.name.as_str(), server.standing.as_str());
//! }
//! # assert_eq!(loaded.plan.servers.len(), 0);
//! # Ok(())
//! # }
//! ```

mod call;
pub mod change;
mod connect;
mod connection;
mod health;
pub mod import;
mod launch;
mod log;
mod places;
mod sources;
mod surface;
mod task;

pub use mcparley_model as model;

pub use call::{Block, Body, Misfit, Outcome};
pub use connect::{ConnectError, Link, Surroundings};
pub use connection::{Event, State, Status, Unavailable};
pub use health::{Checked, Checkup, Health};
pub use launch::launch;
pub use log::{LogLine, Speaker};
pub use places::Places;
pub use sources::{
    Connector, ConnectorError, Connectors, Loaded, NoConnectors, Problem, SettingSource, Severity, Wishes,
    load,
};
pub use surface::{Cut, Gap, Surface, Why};
