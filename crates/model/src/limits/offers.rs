//! Bounds of what servers offer besides tools.

/// How many arguments of a prompt are taken; nobody types more.
pub const PROMPT_ARGUMENTS: usize = 64;

/// How many messages a prompt may give; the rest is left out with a note.
pub const PROMPT_MESSAGES: usize = 256;

/// The longest address of a resource, and of what a template makes: no server takes a longer one.
pub const URI_BYTES: usize = 64 * 1024;

/// How many variables a template of addresses may have.
pub const TEMPLATE_VARIABLES: usize = 64;

/// How many resources and templates one call of `ListMcpResources` shows.
pub const RESOURCES_SHOWN: usize = 100;

/// How many characters of a description it shows; who needs more reads the resource.
pub const RESOURCE_LINE_CHARS: usize = 300;

/// How many mentions of resources in one text are looked up.
pub const MENTIONS: usize = 32;

/// How many characters of a mentioned resource are put before a model; the rest can be read with `ReadMcpResource`.
pub const MENTION_CHARS: usize = 100_000;

/// How many files one skill may have, `SKILL.md` included: what the extension lets servers count on.
pub const SKILL_FILES: usize = 512;

/// How much all files of one skill may hold together.
pub const SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// How many resources of one server may be watched at the same time.
pub const WATCHED_RESOURCES: usize = 256;
