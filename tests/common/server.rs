//! A server of our own, for answers that a real one does not give.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What to answer.
pub(crate) enum Reply {
    /// This status and body.
    Is(u16, Vec<u8>),
    /// The answer is at this address.
    At(String),
    /// A beginning, and then zeros for ever.
    Endless(Vec<u8>),
    /// Nothing, and the connection stays open.
    Silence,
}

/// A server that runs until the test ends.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers by path.
    pub(crate) fn new(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, noted) = (Arc::new(answer), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                std::thread::spawn(move || serve(&stream.unwrap(), &*answer, &noted));
            }
        });
        Self { url, asked }
    }

    /// Paths that were asked for, sorted.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked
    }
}

fn serve(mut stream: &TcpStream, answer: &dyn Fn(&str) -> Reply, noted: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(first)) = lines.next() {
        let path = first.split(' ').nth(1).unwrap().to_owned();
        while lines
            .next()
            .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
        {}
        noted.lock().unwrap().push(path.clone());
        // Whoever asked may have gone away: not our business.
        let _ = match answer(&path) {
            Reply::Is(status, body) => write!(
                stream,
                "HTTP/1.1 {status} x\r\nContent-Length: {}\r\n\r\n",
                body.len()
            )
            .and_then(|()| stream.write_all(&body)),
            Reply::At(url) => write!(
                stream,
                "HTTP/1.1 302 x\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n"
            ),
            Reply::Endless(start) => {
                let _ = write!(stream, "HTTP/1.1 200 x\r\n\r\n");
                let _ = stream.write_all(&start);
                while stream.write_all(&[0; 4096]).is_ok() {}
                return;
            }
            // Until the other side goes away.
            Reply::Silence => {
                lines.next();
                return;
            }
        };
    }
}
