//! Finds out why a server does not work: the cause and the fix.
//!
//! | to | start at |
//! |---|---|
//! | examine servers, one after the other as they are known | **[`Doctor`]** → [`ServerExamination`] |
//! | read the cause and the hints for the user | [`Diagnosis`] |
//! | find problems outside of any single server | [`DoctorFinding`] |
//!
//! | step | module |
//! |---|---|
//! | connect to the servers, step by step | the health check of the pool |
//! | facts about a server that fails | `facts` |
//! | known causes, and the first one that matches the facts | `causes.json`, `cause` |
//! | values for the placeholders in their texts | `placeholders`, `suggestion` |
//! | problems outside of any single server | `finding` |
//! | the examination of one server, with everything above | `server_report` |
//!
//! The crate prints nothing and reads no environment: the command `mcparley doctor` renders the values.

mod cause;
mod doctor;
mod facts;
mod finding;
mod placeholders;
mod server_report;
mod suggestion;

pub use cause::Diagnosis;
pub use doctor::Doctor;
pub use finding::{DoctorFinding, FindingWeight};
pub use server_report::{FailureDetails, HealthVerdict, OfferCounts, ServerExamination};

#[cfg(test)]
mod tests;
