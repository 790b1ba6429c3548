//! What each server of the fleet is and must show.

use std::path::PathBuf;

use mcparley_testkit::{ExternalServer, program_path};
use serde_json::{Value, json};

use super::place::{Place, installed, repository};

/// A server, and what is known about it.
pub(crate) struct Server {
    /// Its entry in a configuration; over HTTP with the process behind it.
    pub(crate) entry: fn(&Place) -> (Value, Option<ExternalServer>),
    /// The version of the protocol that is agreed on when nothing is configured.
    pub(crate) version: &'static str,
    /// The version agreed on with `"era": "old"`, for servers that speak both.
    pub(crate) old_version: Option<&'static str>,
    /// The tools it offers to everyone.
    pub(crate) tools: &'static [&'static str],
    /// The tools it offers only to clients with certain capabilities.
    pub(crate) tools_by_capability: &'static [&'static str],
    /// Calls that are safe, and what is in their answers.
    pub(crate) calls: &'static [Call],
}

/// One call of a tool, as it is typed.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    /// The words behind the tool's name; `{work}` stands for the place's folder.
    pub(crate) words: &'static [&'static str],
    /// How the program ends.
    pub(crate) code: i32,
    /// A piece of what it prints.
    pub(crate) answer: &'static str,
}

/// A call that works.
pub(super) const fn works(tool: &'static str, words: &'static [&'static str], answer: &'static str) -> Call {
    Call { tool, words, code: 0, answer }
}

/// A call of a tool that says that it failed.
const fn fails(tool: &'static str, words: &'static [&'static str], answer: &'static str) -> Call {
    Call { tool, words, code: 8, answer }
}

pub(super) const NEWEST: &str = "2026-07-28";
pub(super) const LAST_OLD: &str = "2025-11-25";
const FIRST: &str = "2024-11-05";

pub(crate) const EVERYTHING: Server = Server {
    entry: |place| (node(place, "mcp-server-everything", &["stdio"], &[]), None),
    version: LAST_OLD,
    old_version: None,
    tools: &[
        "echo",
        "get-annotated-message",
        "get-env",
        "get-resource-links",
        "get-resource-reference",
        "get-roots-list",
        "get-structured-content",
        "get-sum",
        "get-tiny-image",
        "gzip-file-as-resource",
        "simulate-research-query",
        "toggle-simulated-logging",
        "toggle-subscriber-updates",
        "trigger-long-running-operation",
    ],
    tools_by_capability: &[
        "trigger-elicitation-request",
        "trigger-sampling-request",
        "trigger-url-elicitation",
    ],
    calls: &[works("echo", &["message=fleet"], "Echo: fleet"), works("get-sum", &["a=40", "b=2"], "42")],
};

pub(crate) const EVERYTHING_HTTP: Server = Server {
    entry: |place| {
        let (node, script) = (installed("npm/node"), script("mcp-server-everything"));
        let (entry, server) = place.http(&node, &[&script, "streamableHttp"], |command, port| {
            command.env("PORT", port);
        });
        (entry, Some(server))
    },
    ..EVERYTHING
};

pub(crate) const FILESYSTEM: Server = Server {
    entry: |place| (node(place, "mcp-server-filesystem", &[&text(place.work().to_owned())], &[]), None),
    version: LAST_OLD,
    old_version: None,
    tools: &[
        "create_directory",
        "directory_tree",
        "edit_file",
        "get_file_info",
        "list_allowed_directories",
        "list_directory",
        "list_directory_with_sizes",
        "move_file",
        "read_file",
        "read_media_file",
        "read_multiple_files",
        "read_text_file",
        "search_files",
        "write_file",
    ],
    tools_by_capability: &[],
    calls: &[works("read_text_file", &["path={work}/hello.txt"], "hello fleet")],
};

pub(crate) const MEMORY: Server = Server {
    entry: |place| {
        let file = text(place.work().join("memory.jsonl"));
        (node(place, "mcp-server-memory", &[], &[("MEMORY_FILE_PATH", &file)]), None)
    },
    version: LAST_OLD,
    old_version: None,
    tools: &[
        "add_observations",
        "create_entities",
        "create_relations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "open_nodes",
        "read_graph",
        "search_nodes",
    ],
    tools_by_capability: &[],
    calls: &[works(
        "create_entities",
        &[r#"entities:=[{"name": "Ada", "entityType": "person", "observations": ["likes engines"]}]"#],
        "likes engines",
    )],
};

/// On the first release of its SDK; the token is never used, because no tool is called.
pub(crate) const GITHUB: Server = Server {
    entry: |place| (node(place, "mcp-server-github", &[], &[("GITHUB_PERSONAL_ACCESS_TOKEN", "none")]), None),
    version: FIRST,
    old_version: None,
    tools: &[
        "add_issue_comment",
        "create_branch",
        "create_issue",
        "create_or_update_file",
        "create_pull_request",
        "create_pull_request_review",
        "create_repository",
        "fork_repository",
        "get_file_contents",
        "get_issue",
        "get_pull_request",
        "get_pull_request_comments",
        "get_pull_request_files",
        "get_pull_request_reviews",
        "get_pull_request_status",
        "list_commits",
        "list_issues",
        "list_pull_requests",
        "merge_pull_request",
        "push_files",
        "search_code",
        "search_issues",
        "search_repositories",
        "search_users",
        "update_issue",
        "update_pull_request_branch",
    ],
    tools_by_capability: &[],
    calls: &[],
};

pub(crate) const GIT: Server = Server {
    entry: |place| {
        let repository = text(place.work().join("repo"));
        (place.stdio(&installed("servers/bin/mcp-server-git"), &["--repository", &repository], &[]), None)
    },
    version: NEWEST,
    old_version: Some(LAST_OLD),
    tools: &[
        "git_add",
        "git_branch",
        "git_checkout",
        "git_commit",
        "git_create_branch",
        "git_diff",
        "git_diff_staged",
        "git_diff_unstaged",
        "git_log",
        "git_reset",
        "git_show",
        "git_status",
    ],
    tools_by_capability: &[],
    calls: &[works("git_log", &["repo_path={work}/repo"], "first commit")],
};

pub(crate) const TIME: Server = Server {
    entry: |place| {
        (place.stdio(&installed("servers/bin/mcp-server-time"), &["--local-timezone", "UTC"], &[]), None)
    },
    version: NEWEST,
    old_version: Some(LAST_OLD),
    tools: &["convert_time", "get_current_time"],
    tools_by_capability: &[],
    calls: &[works(
        "convert_time",
        &["source_timezone=UTC", "time=12:00", "target_timezone=Asia/Tokyo"],
        "21:00",
    )],
};

/// Python would leave what it compiled beside the demonstration, in the repository.
const CLEAN: (&str, &str) = ("PYTHONDONTWRITEBYTECODE", "1");

pub(crate) const FASTMCP: Server = Server {
    entry: |place| {
        let demo = text(repository().join("fleet/demo_fastmcp.py"));
        (place.stdio(&installed("fastmcp/bin/fastmcp"), &["run", &demo, "--no-banner"], &[CLEAN]), None)
    },
    version: NEWEST,
    old_version: Some(LAST_OLD),
    tools: &["ask", "big_text", "fail", "long_description", "math.add", "slow"],
    tools_by_capability: &[],
    calls: &[
        works("math.add", &["a=40", "b=2"], "42"),
        works("slow", &["steps=2"], "2 steps"),
        fails("fail", &["message=out of luck"], "out of luck"),
    ],
};

pub(crate) const FASTMCP_HTTP: Server = Server {
    entry: |place| {
        let demo = text(repository().join("fleet/demo_fastmcp.py"));
        let arguments = ["run", &demo, "--no-banner", "--transport", "http", "--host", "127.0.0.1"];
        let (entry, server) = place.http(&installed("fastmcp/bin/fastmcp"), &arguments, |command, port| {
            command.args(["--port", port]).envs([CLEAN]);
        });
        (entry, Some(server))
    },
    ..FASTMCP
};

/// Never probed, so whatever it speaks, it is greeted in the old way.
pub(crate) const WS: Server = Server {
    entry: |place| {
        let demo = text(repository().join("fleet/demo_ws.py"));
        let (_, server) = place.http(&installed("ws/bin/python"), &[&demo], |command, port| {
            command.arg(port).envs([CLEAN]);
        });
        let entry = json!({"type": "ws", "url": format!("ws://{}/ws", server.address())});
        (entry, Some(server))
    },
    version: LAST_OLD,
    old_version: None,
    tools: &["add", "fail", "slow"],
    tools_by_capability: &[],
    calls: &[
        works("add", &["a=40", "b=2"], "42"),
        works("slow", &["steps=2"], "2 steps"),
        fails("fail", &["message=out of luck"], "out of luck"),
    ],
};

pub(crate) const RMCP: Server = Server {
    entry: |place| (place.stdio(&program_path("mcparley-fleet-rmcp"), &[], &[]), None),
    version: NEWEST,
    old_version: Some(LAST_OLD),
    tools: &["add", "chore", "fail", "slow"],
    tools_by_capability: &[],
    calls: &[
        works("add", &["a=40", "b=2"], "42"),
        works("slow", &["steps=2"], "2 steps"),
        fails("fail", &["message=out of luck"], "out of luck"),
    ],
};

/// An entry for a server that npm installed.
pub(super) fn node(place: &Place, name: &str, args: &[&str], env: &[(&str, &str)]) -> Value {
    place.stdio(&installed("npm/node"), &[&[&*script(name)], args].concat(), env)
}

fn script(name: &str) -> String {
    text(installed(&format!("npm/node_modules/.bin/{name}")))
}

pub(super) fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}
