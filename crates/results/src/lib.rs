//! Results of MCP calls in the form a model can use: cleaned, bounded in size, the rest stored for paging.
//!
//! | step, in the order of the data | module |
//! |---|---|
//! | the server's answer becomes a [`CallOutcome`] of [`ContentBlock`]s | `shape`, `outcome`, `blocks`; [`base64_text`] |
//! | text that only repeats the structured value is not counted twice | `repeated_text` |
//! | the limit for one result, in characters and tokens | [`ResultBudget`] |
//! | an outcome over its budget is shortened and stored | **[`ResultLimiter`]**, start reading here: `spill`, `note`, `outline` |
//! | images are scaled down; audio and other binary parts are stored | `binary`, `picture` |
//! | the store keeps results in files or in memory | [`ResultStore`]: `files`, `memory` |
//! | the model pages through a stored result | `read` |
//! | the result in the form of a model's API | [`dialect`] |
//!
//! The crate knows neither connections nor servers: bytes go in, values come out.

pub mod base64_text;
mod binary;
mod blocks;
mod budget;
pub mod dialect;
mod files;
mod forward;
mod limiter;
mod memory;
mod note;
mod outcome;
mod outline;
#[cfg(feature = "images")]
mod picture;
#[cfg(not(feature = "images"))]
#[path = "without_images.rs"]
mod picture;
mod read;
mod repeated_text;
mod shape;
mod spill;
mod store;
mod stored;
mod token_estimate;

pub use blocks::{read_blocks, resource_outcome};
pub use budget::ResultBudget;
pub use forward::{ForwardableOutcome, ScannedResult};
pub use limiter::{ResultLimiter, fits_budget};
pub use mcparley_json::RawJson;
pub use outcome::{CallOutcome, ContentBlock, ResourceBody};
pub use read::ReadResultError;
pub use shape::{mend_surrogates, shape_outcome};
pub use store::{ResultHandle, ResultPayload, ResultStore, StoreError};
pub use stored::StoredResult;
