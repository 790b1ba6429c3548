//! A page that is served for one test, and a client that speaks to it as a browser would.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mcparley::config::StartPolicy;
use mcparley::{Host, Paths, RunOptions};
use mcparley_gateway::Gateway;
use mcparley_testkit::ScriptedStdio;
use mcparley_web::{LocalPage, PageOptions};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than a loaded machine takes for anything in these tests.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A page with servers, and a browser that has signed in.
pub(crate) struct TestPage {
    pub(crate) host: Host,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    /// The cookie of the browser, as it sends it.
    pub(crate) cookie: String,
    folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// An open event stream.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl TestPage {
    /// Serves the page for these servers, and signs in.
    pub(crate) async fn open(servers: &[(&str, ScriptedStdio)]) -> Self {
        Self::open_with(servers, RunOptions::default(), &[]).await
    }

    /// Serves another page without servers, for the same user.
    pub(crate) async fn open_beside(other: &Self) -> Self {
        let folder = other.folder.path().canonicalize().unwrap();
        Self::open_in(&[], RunOptions::default(), &[], Some(folder.join("control"))).await
    }

    /// Serves the page with these options, for a home with these files.
    pub(crate) async fn open_with(
        servers: &[(&str, ScriptedStdio)],
        run_options: RunOptions,
        files: &[(&str, &str)],
    ) -> Self {
        Self::open_in(servers, run_options, files, None).await
    }

    async fn open_in(
        servers: &[(&str, ScriptedStdio)],
        mut run_options: RunOptions,
        files: &[(&str, &str)],
        control: Option<PathBuf>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("home/project")).unwrap();
        let entries: Map<String, Value> = servers
            .iter()
            .map(|(name, server)| {
                ((*name).to_owned(), json!({ "command": server.program, "args": server.args }))
            })
            .collect();
        std::fs::write(root.join("home/.claude.json"), json!({ "mcpServers": entries }).to_string()).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut paths = Paths::new(&root.join("home"), &root.join("home/project"));
        paths.managed = root.join("managed");
        paths.logs = Some(root.join("logs"));
        run_options.env.set("PATH", "/usr/bin:/bin");
        // A person at a page can be asked.
        run_options.interactive = true;
        let host = Host::builder(&paths, &run_options)
            .start_with(StartPolicy::All)
            .without_built_in_server()
            .count_calls();
        let host = Gateway::offer_questions(host).start();
        let options =
            PageOptions { run_options, control_folder: control.unwrap_or_else(|| root.join("control")) };
        let page = LocalPage::open(&host, options, 0).await.unwrap();
        let url = page.address();
        let (start, token) = url.split_once("/ui/#token=").unwrap();
        let address = start.strip_prefix("http://").unwrap().parse().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(page.serve_until(async move { drop(stopped.await) }, LONG));
        let token = token.to_owned();
        let (cookie, stop, serving) = (String::new(), Some(stop), Some(serving));
        let mut page = Self { host, address, token, cookie, folder, stop, serving };
        page.sign_in().await;
        page
    }

    async fn sign_in(&mut self) {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json"), UI];
        let reply = self.send("POST /ui/session", &headers, "{}").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let cookie = reply.header("set-cookie").unwrap();
        self.cookie = cookie.split(';').next().unwrap().to_owned();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sends a request with exactly these headers, `Host` apart, which is added if it is missing.
    pub(crate) async fn send(&self, start: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut lines = self.open_request(start, headers, body).await;
        let (status, headers) = read_head(&mut lines).await;
        let mut body = String::new();
        tokio::time::timeout(LONG, lines.read_to_string(&mut body)).await.unwrap().unwrap();
        Reply { status, headers, body }
    }

    async fn open_request(&self, start: &str, headers: &[(&str, &str)], body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut text = format!("{start} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(name, value)| text += &format!("{name}: {value}\r\n"));
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.unwrap();
        BufReader::new(stream)
    }

    /// Sends a request of the page that is signed in.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(&format!("GET {path}"), &[("Cookie", &self.cookie), UI], "").await
    }

    /// Posts JSON from the page that is signed in.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        let headers = [("Cookie", self.cookie.as_str()), ("Content-Type", "application/json"), UI];
        self.send(&format!("POST {path}"), &headers, &body.to_string()).await
    }

    /// Opens an event stream.
    pub(crate) async fn events(&self, path: &str) -> Events {
        let headers = [("Cookie", self.cookie.as_str()), UI];
        let mut lines = self.open_request(&format!("GET {path}"), &headers, "").await;
        let (status, _) = read_head(&mut lines).await;
        assert_eq!(status, 200);
        Events { lines }
    }

    /// Ends the page and its servers.
    pub(crate) async fn close(mut self) {
        drop(self.stop.take());
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap();
        }
        self.host.shut_down().await;
    }
}

/// The header that the page sends with each request.
pub(crate) const UI: (&str, &str) = ("X-Mcparley-Ui", "1");

async fn read_head(lines: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    tokio::time::timeout(LONG, lines.read_line(&mut line)).await.unwrap().unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        line.clear();
        tokio::time::timeout(LONG, lines.read_line(&mut line)).await.unwrap().unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { return (status, headers) };
        headers.push((name.to_owned(), value.to_owned()));
    }
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Events {
    /// Reads events until one of this name fits, and returns it.
    pub(crate) async fn wait_for(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let found = tokio::time::timeout(LONG, self.find_event(name, fits)).await;
        found.unwrap_or_else(|_| panic!("no such `{name}` came"))
    }

    async fn find_event(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut current = String::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).await.unwrap() > 0, "the stream ended");
            if let Some(event) = line.trim_end().strip_prefix("event: ") {
                event.clone_into(&mut current);
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|_| current == name) {
                let value: Value = serde_json::from_str(data).unwrap();
                if fits(&value) {
                    return value;
                }
            }
        }
    }
}
