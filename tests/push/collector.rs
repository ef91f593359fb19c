//! A server that takes profiles, or does what servers should not do.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for a request: longer means that none comes.
const WATCHDOG: Duration = Duration::from_secs(120);

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

/// What to answer.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It is delivered, as the protocol of the request says it.
    Taken,
    /// A status, more lines of the head, and a body.
    Is(u16, &'static str, Vec<u8>),
    /// Bytes that need not be HTTP.
    Raw(&'static [u8]),
    /// A good beginning, and then more of it for ever.
    Endless,
    /// A byte now and then.
    Slow,
    /// Nothing, and the connection stays open.
    Silence,
}

impl Reply {
    /// It is delivered.
    pub(crate) fn ok() -> Self {
        Self::Taken
    }

    /// The answer of a server that takes what is sent to a path.
    fn taken(path: &str) -> Self {
        match path {
            "/api/profiles/writeraw" => {
                Self::Is(200, "Content-Type: application/json\r\n", b"{}".to_vec())
            }
            "/push.v1.PusherService/Push" => {
                Self::Is(200, "Content-Type: application/proto\r\n", Vec::new())
            }
            _ => Self::Is(200, "", Vec::new()),
        }
    }

    /// Only a status.
    pub(crate) fn status(status: u16) -> Self {
        Self::Is(status, "", Vec::new())
    }
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
}

/// A server that runs until the test program ends.
pub(crate) struct Collector {
    pub(crate) url: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Collector {
    /// Answers by the request and by how many there were before.
    pub(crate) fn new(answer: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let (answer, kept) = (Arc::new(answer), Arc::clone(&shared));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, kept) = (Arc::clone(&answer), Arc::clone(&kept));
                std::thread::spawn(move || {
                    // Whoever asked may have gone away: not our business.
                    let _ = serve(&stream.unwrap(), &*answer, &kept);
                });
            }
        });
        Self { url, shared }
    }

    /// One that takes everything.
    pub(crate) fn good() -> Self {
        Self::new(|_, _| Reply::ok())
    }

    /// All requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.0.lock().unwrap().received.clone()
    }

    /// Waits until there are so many.
    #[track_caller]
    pub(crate) fn wait_for(&self, n_requests: usize) -> Vec<Received> {
        let (state, changed) = &*self.shared;
        let too_few = |state: &mut State| state.received.len() < n_requests;
        let waited = changed.wait_timeout_while(state.lock().unwrap(), WATCHDOG, too_few);
        let (state, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "{} requests", state.received.len());
        state.received.clone()
    }
}

fn serve(
    stream: &TcpStream,
    answer: &(dyn Fn(&Received, usize) -> Reply + Send + Sync),
    shared: &(Mutex<State>, Condvar),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut stream = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length");
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body)?;
        let received = Received {
            path,
            headers,
            body,
            at: Instant::now(),
        };
        let n_before = {
            let mut state = shared.0.lock().unwrap();
            state.received.push(received.clone());
            state.received.len() - 1
        };
        shared.1.notify_all();
        let reply = match answer(&received, n_before) {
            Reply::Taken => Reply::taken(&received.path),
            reply => reply,
        };
        match reply {
            Reply::Taken => return Ok(()),
            Reply::Is(status, head, body) => {
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status} x\r\n{head}Content-Length: {length}\r\n\r\n"
                )?;
                stream.write_all(&body)?;
            }
            Reply::Raw(bytes) => {
                stream.write_all(bytes)?;
                return Ok(());
            }
            Reply::Endless => {
                let head = "HTTP/1.1 200 x\r\nContent-Type: application/x-protobuf\r\n\r\n";
                stream.write_all(head.as_bytes())?;
                loop {
                    stream.write_all(&[0; 4096])?;
                }
            }
            Reply::Slow => {
                stream.write_all(b"HTTP/1.1 200 x\r\nSlow: ")?;
                loop {
                    stream.write_all(b"a")?;
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
            // Until the other side goes away.
            Reply::Silence => {
                let mut rest = Vec::new();
                reader.read_to_end(&mut rest)?;
                return Ok(());
            }
        }
    }
}
