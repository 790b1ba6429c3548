//! An HTTP/1.1 response on a raw socket: its head, its body, and the events of a stream.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;

/// The headers of a response.
#[derive(Debug)]
pub(super) struct ResponseHead(Vec<(String, String)>);

/// Reads the head of a response.
pub(super) fn read_head(reader: &mut BufReader<TcpStream>) -> io::Result<ResponseHead> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end() {
            "" => return Ok(ResponseHead(headers)),
            line => {
                if let Some((name, value)) = line.split_once(':') {
                    headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
            }
        }
    }
}

impl ResponseHead {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body behind the head.
    pub(super) fn into_body(self, reader: BufReader<TcpStream>) -> ResponseBody {
        let is_chunked =
            self.header("transfer-encoding").is_some_and(|it| it.eq_ignore_ascii_case("chunked"));
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        ResponseBody { reader, left: if is_chunked { Some(0) } else { length }, is_chunked, is_ended: false }
    }
}

/// The bytes of a body.
#[derive(Debug)]
pub(super) struct ResponseBody {
    reader: BufReader<TcpStream>,
    /// The bytes that are left of the body, or of its chunk; none up to the end of the connection.
    left: Option<usize>,
    is_chunked: bool,
    is_ended: bool,
}

impl ResponseBody {
    /// Reads the length of the next chunk.
    fn begin_chunk(&mut self) -> io::Result<()> {
        let mut line = String::new();
        // The line break behind the chunk before is an empty line.
        while line.trim().is_empty() {
            line.clear();
            if self.reader.read_line(&mut line)? == 0 {
                self.is_ended = true;
                return Ok(());
            }
        }
        let digits = line.trim().split(';').next().unwrap_or_default();
        let length = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
        (self.left, self.is_ended) = (Some(length), length == 0);
        Ok(())
    }
}

impl Read for ResponseBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_chunked && self.left == Some(0) && !self.is_ended {
            self.begin_chunk()?;
        }
        let most = self.left.unwrap_or(buffer.len()).min(buffer.len());
        if self.is_ended || most == 0 {
            return Ok(0);
        }
        let read = self.reader.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left = self.left.map(|left| left - read);
        Ok(read)
    }
}

/// The events of a stream.
#[derive(Debug)]
pub(super) struct EventStream {
    reader: BufReader<ResponseBody>,
    last_id: Option<String>,
}

impl EventStream {
    pub(super) fn new(body: ResponseBody) -> Self {
        Self { reader: BufReader::new(body), last_id: None }
    }

    /// The data of the next event that has any.
    pub(super) fn next_event(&mut self) -> io::Result<Option<String>> {
        let mut data = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end_matches(['\r', '\n']);
            match line.split_once(':') {
                _ if line.is_empty() && !data.is_empty() => return Ok(Some(data)),
                Some(("data", value)) => data.push_str(value.trim_start()),
                Some(("id", value)) => self.last_id = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }

    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }
}
