//! Recognition of known servers in command lines, and the table itself.

use std::collections::HashSet;

use super::*;

/// The name and the joining traits of the server in a command line: `f` if it is free of its folder, `o` if
/// it ignores the offer.
fn recognize_line(line: &str) -> Option<(&'static str, String)> {
    let argv: Vec<&str> = line.split(' ').collect();
    find_known_server(&argv).map(|known| {
        let joining = [("f", !known.uses_folder), ("o", known.ignores_offer)];
        (known.name, joining.into_iter().filter_map(|(mark, is_set)| is_set.then_some(mark)).collect())
    })
}

// G8
#[test]
fn server_is_recognized_in_every_spelling() {
    for (line, name, joining) in [
        // npm
        ("npx @upstash/context7-mcp", "context7", "f"),
        ("npx -y @upstash/context7-mcp", "context7", "f"),
        ("npx --yes @upstash/context7-mcp@latest --api-key k", "context7", "f"),
        ("npx -y @upstash/context7-mcp@1.0.14", "context7", "f"),
        ("npx -y --package=@upstash/context7-mcp context7-mcp", "context7", "f"),
        ("npx -y -p @upstash/context7-mcp -- context7-mcp", "context7", "f"),
        ("/usr/local/bin/npx -y @upstash/context7-mcp", "context7", "f"),
        ("npm exec -y @upstash/context7-mcp", "context7", "f"),
        ("npm x -- @upstash/context7-mcp", "context7", "f"),
        ("pnpm dlx @upstash/context7-mcp", "context7", "f"),
        ("pnpx @upstash/context7-mcp", "context7", "f"),
        ("yarn dlx @upstash/context7-mcp", "context7", "f"),
        ("bunx @upstash/context7-mcp", "context7", "f"),
        ("bun x @upstash/context7-mcp", "context7", "f"),
        ("deno run -A npm:@upstash/context7-mcp", "context7", ""),
        ("node /opt/n/node_modules/@upstash/context7-mcp/dist/index.js", "context7", "f"),
        (
            "/usr/bin/node --no-warnings /opt/node_modules/@upstash/context7-mcp/dist/index.js",
            "context7",
            "f",
        ),
        ("node --no-warnings /opt/node_modules/.bin/context7-mcp", "context7", "f"),
        ("bun run /opt/node_modules/@upstash/context7-mcp/dist/index.js", "context7", "f"),
        ("/opt/node_modules/.bin/context7-mcp", "context7", "f"),
        ("/opt/node_modules/@upstash/context7-mcp/dist/index.js", "context7", "f"),
        ("npx -y chrome-devtools-mcp@latest --isolated", "chrome-devtools", ""),
        ("npx -y @playwright/mcp@latest", "playwright", ""),
        ("npx @modelcontextprotocol/server-memory", "memory", "o"),
        // PyPI
        ("uvx mcp-server-time", "time", "fo"),
        ("uvx mcp-server-time@latest", "time", "fo"),
        ("uvx mcp-server-time==2026.10.19 --local-timezone=Europe/Berlin", "time", "fo"),
        ("uvx mcp_server_time>=1", "time", "fo"),
        ("uvx MCP.Server.Time[extra]", "time", "fo"),
        ("uvx --from mcp-server-time mcp-server-time", "time", "fo"),
        ("uvx --from=mcp-server-time==1.0 mcp-server-time", "time", "fo"),
        ("uvx -p 3.12 mcp-server-time", "time", "fo"),
        ("uvx --python /usr/bin/python3 mcp-server-time", "time", "fo"),
        ("uv tool run mcp-server-time", "time", "fo"),
        ("pipx run mcp-server-fetch", "fetch", "fo"),
        ("pipx run --spec mcp-server-fetch==1 mcp-server-fetch", "fetch", "fo"),
        ("/opt/v/bin/python -m mcp_server_time", "time", "fo"),
        ("/opt/v/bin/python3.12 -I -X utf8 -m mcp_server_time --local-timezone UTC", "time", "fo"),
        ("/opt/v/bin/python3 -mmcp_server_time", "time", "fo"),
        ("/opt/v/bin/mcp-server-time", "time", "fo"),
        ("/opt/v/bin/python /opt/v/bin/mcp-server-time", "time", "fo"),
        // Programs
        ("mcp-server-time", "time", "o"),
        ("mcp-server-time.exe", "time", "o"),
        ("serena start-mcp-server", "serena", ""),
        ("uvx --from git+https://github.com/oraios/serena serena start-mcp-server", "serena", ""),
        ("docker run -i --rm mcp/time", "time", "o"),
        ("docker run -i --rm --init mcr.microsoft.com/playwright/mcp:latest", "playwright", ""),
    ] {
        assert_eq!(recognize_line(line), Some((name, joining.to_owned())), "{line}");
    }
}

// G8
#[test]
fn joining_trait_needs_a_command_line_without_doubt() {
    for (line, joining) in [
        // Found through the folder or the environment of the client.
        ("python -m mcp_server_time", "o"),
        ("python3 /opt/v/bin/mcp-server-time", "o"),
        ("/usr/bin/python3 bin/mcp-server-time", "o"),
        (".venv/bin/mcp-server-time", "o"),
        ("./mcp-server-time", "o"),
        ("uv run mcp-server-time", "o"),
        ("uv run --directory /opt/p mcp-server-time", "o"),
        ("uvx --env-file .env mcp-server-time", "o"),
        ("uvx --directory sub mcp-server-time", "o"),
        ("uvx --with ./own mcp-server-time", "o"),
        ("uvx --python venv/bin/python mcp-server-time", "o"),
        ("uvx mcp-server-time ./zones", "o"),
        ("uvx mcp-server-time --zones=../zones", "o"),
        ("env -C sub uvx mcp-server-time", "o"),
        ("env TZ=UTC uvx mcp-server-time", "o"),
        // More than the server alone.
        ("sh -c uvx\u{a0}mcp-server-time", ""),
        ("npx -y someone/mcp-server-time", ""),
        ("npx -y @someone/mcp-server-time", ""),
        ("npx -p mcp-server-time -p other mcp-server-time", ""),
        ("uvx --from own-package mcp-server-time", ""),
        ("uvx --from git+https://h/x mcp-server-time", ""),
    ] {
        let argv: Vec<String> = line.split(' ').map(|word| word.replace('\u{a0}', " ")).collect();
        let known = find_known_server(&argv.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        let joining_found = [("f", !known.uses_folder), ("o", known.ignores_offer)];
        let found: String =
            joining_found.into_iter().filter_map(|(mark, is_set)| is_set.then_some(mark)).collect();
        assert_eq!((known.name, found.as_str()), ("time", joining), "{line}");
    }
    for line in [
        "node node_modules/@upstash/context7-mcp/dist/index.js",
        "/usr/bin/node node_modules/@upstash/context7-mcp/dist/index.js",
        "node -r hook.js /opt/node_modules/.bin/context7-mcp",
        "node ./node_modules/@upstash/context7-mcp/dist/index.js",
        "npx --prefix sub @upstash/context7-mcp",
        "npx --no-install @upstash/context7-mcp",
        "pnpm exec context7-mcp",
        "node_modules/.bin/context7-mcp",
    ] {
        assert_eq!(recognize_line(line), Some(("context7", String::new())), "{line}");
    }
}

// G8
#[test]
fn trait_that_keeps_clients_apart_needs_only_a_mention() {
    for argv in [
        &["sh", "-c", "cd /srv && exec npx -y @playwright/mcp@latest"][..],
        &["bash", "-lc", "playwright-mcp --headless"],
        &["env", "A=1", "nice", "npx", "@playwright/mcp"],
        &["cmd", "/c", "npx", "-y", "@playwright/mcp"],
        &["npx", "-y", "concurrently", "x", "--", "y"],
        &["sh", "-c", "uvx mcp-server-time & npx @playwright/mcp"],
    ] {
        let is_playwright = !argv.contains(&"concurrently");
        assert_eq!(find_known_server(argv).is_some_and(|known| known.stateful), is_playwright, "{argv:?}");
    }
    assert!(find_known_server(&["npx", "@modelcontextprotocol/server-filesystem", "."]).unwrap().reads_roots);
}

// G8
#[test]
fn other_programs_are_not_recognized() {
    for line in [
        "",
        "npx",
        "uvx",
        "python",
        "python -m",
        "python -c mcp_server_time",
        "npx -y my-mcp-server-memory",
        "npx -y @other/context7-mcp-x",
        "npx -y @modelcontextprotocol/server-memory-plus",
        "node /opt/my_node_modules/@upstash/context7-mcp/dist/index.js",
        "node server.js @upstash/context7-mcp",
        "node server.js /opt/node_modules/@upstash/context7-mcp/dist/index.js",
        "echo mcp-server-time",
        "python -m mcp_server_time_plus",
        "go run example.com/mcp-server@v1.0.0",
        "docker run -i someone/time",
    ] {
        assert_eq!(recognize_line(line), None, "{line}");
    }
}

// G8
#[test]
fn table_is_valid_and_every_entry_is_justified() {
    let entries: Vec<KnownServerEntry> = serde_json::from_str(include_str!("../known_servers.json")).unwrap();
    assert_eq!(entries.len(), KNOWN_SERVERS.len());
    let mut names = HashSet::new();
    for entry in &entries {
        let has_trait = entry.stateful || entry.ignores_offer || entry.reads_roots || !entry.uses_folder;
        assert!(has_trait && entry.why.len() > 30 && entry.why.ends_with('.'), "{}", entry.name);
        let spellings = [&entry.npm, &entry.pypi, &entry.modules, &entry.programs, &entry.images];
        assert!(spellings.iter().any(|spellings| !spellings.is_empty()), "{}", entry.name);
        for (kind, spelling) in spellings
            .iter()
            .enumerate()
            .flat_map(|(kind, all)| all.iter().map(move |spelling| (kind, spelling)))
        {
            assert!(names.insert((kind, spelling)), "{spelling} is listed twice");
        }
        assert!(!(entry.reads_roots && entry.ignores_offer), "{}: roots are part of the offer", entry.name);
    }
}
