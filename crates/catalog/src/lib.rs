//! Catalog of the tools that a model is shown: pure values, without I/O or clock.
//!
//! | step, in the order of the data | module |
//! |---|---|
//! | tools get a name, a place and a provider | [`Assembler`]: [`ToolSwitches`], `naming`, `built_in`, `sign_in`, `denial` |
//! | the result is an immutable snapshot | **[`Catalog`]** of [`CatalogEntry`]s, the place to start reading |
//! | tools are listed or deferred by size | [`ModelOffer`] within a [`Budget`], measured by `tokens` |
//! | deferred tools can be searched for | [`SearchQuery`] → [`SearchResults`]: `index`; by meaning with [`WordVectors`] |
//! | a model's API gets the tools in its own format | [`Dialect`] → [`ModelTools`] → [`ModelCall`] |
//! | the arguments of a call are validated | [`ArgumentChecker`] |
//! | skills are parsed from the lists of servers | [`Skill`] |
//! | a reviewer sees suspicious tools | [`ChangedTool`], [`Mention`] |
//! | a person sees a tool in one line | [`tool_signature`] |

mod arguments;
mod assemble;
mod budget;
mod built_in;
mod catalog;
mod changed_tools;
mod denial;
mod dialect;
mod entries;
mod entry;
mod index;
mod mention;
mod model_offer;
mod naming;
mod search;
mod sign_in;
mod skill;
mod tokens;
mod tool_signature;
mod tool_switches;
mod word_vectors;
mod words;

pub use arguments::{ArgumentChecker, ArgumentFit, ArgumentMismatch};
pub use assemble::{Assembler, ServerTools, SignIn, ToolTrustFn};
pub use budget::{Budget, BudgetError};
pub use built_in::BuiltIn;
pub use catalog::Catalog;
pub use changed_tools::ChangedTool;
pub use denial::CatalogDenials;
pub use dialect::{Dialect, ModelCall, ModelCallError, ModelTools, UnknownDialect, WithheldReason};
pub use entry::{CatalogEntry, ToolProvider};
pub use mention::Mention;
pub use model_offer::ModelOffer;
pub use naming::assign_public_names;
pub use search::{SearchQuery, SearchResults, UnresolvedName};
pub use sign_in::SignInTool;
pub use skill::{Skill, SkillFile, is_skill_address, is_usable_skill, read_skill, read_skills};
pub use tool_signature::{argument_signature, tool_signature};
pub use tool_switches::ToolSwitches;
pub use word_vectors::{WordVectors, WordVectorsError, WordVectorsReader, WordVectorsSource};
