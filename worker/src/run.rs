//! A worker's life inside its cage: the control socket, the forwarder, the browser, the service, the end.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use glass_proto::TargetId;
use glass_proto::start::{self, FromWorker, Plan, StartLayer, ToWorker};
use glass_proto::wire::MAX_MESSAGE;
use glass_proto::wire::worker::worker_server::WorkerServer;
use glass_sandbox::{CagePlan, Entered, Mode, fdpass};
use tokio::io::Interest;
use tokio::net::{UnixDatagram, UnixStream};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::cdp::Limits;
use crate::chromium::{Browser, Elsewhere, Launch, LaunchError, Reaper, attach, find, launch};
use crate::forward::{Forwarder, Peers};
use crate::journal::Journal;
use crate::page::Pages;
use crate::serve::{Service, Up};

/// How long the browser may take to answer for the first time.
const LAUNCH: Duration = Duration::from_secs(12);
/// How long somebody else's may take to let us in.
const ATTACH: Duration = Duration::from_secs(9);
/// How long the browser may take to close by itself.
const CLOSE: Duration = Duration::from_millis(900);
/// After this time without an operation a page's accessibility cache is let go (DESIGN 6).
const REST: Duration = Duration::from_secs(60);

/// Serves until asked to end, the browser dies or the daemon does. Answers the exit code.
///
/// # Errors
/// When the control socket or the forwarder cannot be set up.
pub async fn run(
    plan: Plan<CagePlan>,
    entered: Entered,
    control: OwnedFd,
    egress: OwnedFd,
    journal: Journal,
) -> io::Result<i32> {
    let control = Control::new(control)?;
    let reaper = Reaper::start()?;
    let proxy_port = entered.listener.local_addr()?.port();
    let peers = match entered.mode {
        Mode::Namespaces => Peers::Cage,
        // In the host's network everybody on the machine could knock here.
        Mode::LandlockOnly | Mode::BrowserOnly => Peers::Own,
    };
    let forwarder = Forwarder::start(entered.listener, egress, peers)?;
    let settings = &plan.session;
    let (test_id, navigation) = (settings.test_id_attribute.clone(), settings.navigation.clone());
    let (notes, mut noted) = mpsc::unbounded_channel();
    let notes = settings.options.attach.is_some().then_some(notes);
    let pages = Pages::new(
        forwarder,
        test_id,
        navigation,
        settings.max_targets,
        settings.spool_bytes,
        &settings.options,
        notes,
    );
    let (up, up_seen) = watch::channel(Up::Starting);
    let stop = CancellationToken::new();
    let mode = entered.mode.name().to_owned();
    let place = Place {
        session: entered.session,
        environment: entered.environment,
        proxy_port,
        own_shared_memory: entered.mode == Mode::Namespaces,
    };
    let layers = entered.observer.cage().into_iter().map(|layer| StartLayer {
        name: layer.name,
        state: format!("{:?}", layer.state).to_lowercase(),
        detail: layer.detail,
    });
    say(&control, &FromWorker::Ready { mode: mode.clone(), layers: layers.collect() });
    let service = Service::new(pages.clone(), up_seen, entered.observer, mode, journal, stop.clone());
    let (dialled, incoming) = mpsc::channel(4);
    tokio::spawn(serve(service, incoming));
    let mut life = tokio::spawn(live(plan, place, reaper, pages.clone(), up));
    let mut rest = tokio::time::interval(REST / 2);
    loop {
        tokio::select! {
            message = receive(&control) => match message {
                Some(Heard::Dial(fd)) => dial(&dialled, fd).await,
                Some(Heard::Told(told)) => pages.told(told),
                Some(Heard::Egress(fd)) => {
                    if let Err(error) = pages.forwarder().replace(fd) {
                        tracing::warn!(%error, "a new egress endpoint could not be taken");
                    }
                }
                None => return Ok(start::EXIT_LIFELINE),
            },
            Some(note) = noted.recv() => say(&control, &note),
            ended = &mut life => return Ok(match ended {
                Ok(Life::NotStarted(failed)) => {
                    say(&control, &failed);
                    start::EXIT_NOT_STARTED
                }
                Ok(Life::BrowserLeft) => start::EXIT_BROWSER_LEFT,
                Ok(Life::BrowserDied) | Err(_) => start::EXIT_BROWSER_DIED,
            }),
            () = stop.cancelled() => {
                if let Some(browser) = pages.browser() {
                    pages.leave(CLOSE).await;
                    browser.close(CLOSE).await;
                }
                return Ok(start::EXIT_ASKED);
            }
            _ = rest.tick() => pages.rest(REST),
        }
    }
}

/// The step of starting a browser of our own.
const BROWSER: &str = "browser";

/// What the browser is started with, which differs by the kind of cage.
struct Place {
    session: PathBuf,
    environment: Vec<(&'static str, OsString)>,
    proxy_port: u16,
    own_shared_memory: bool,
}

enum Life {
    NotStarted(FromWorker),
    BrowserDied,
    BrowserLeft,
}

/// Starts the browser and its pages, and watches until it dies.
async fn live(
    plan: Plan<CagePlan>,
    place: Place,
    reaper: Reaper,
    pages: Pages,
    up: watch::Sender<Up>,
) -> Life {
    match begin(&plan, place, &reaper, &pages).await {
        Ok(browser) => {
            up.send_replace(Up::Ready(browser.clone()));
            let exit = browser.exited().await;
            tracing::warn!(%exit, "the browser ended");
            if browser.is_elsewhere() { Life::BrowserLeft } else { Life::BrowserDied }
        }
        Err(Failure { step, message, remedy }) => {
            tracing::error!(%message, "the browser did not start");
            up.send_replace(Up::Failed(message.as_str().into()));
            Life::NotStarted(FromWorker::Failed { step: step.to_owned(), errno: None, message, remedy })
        }
    }
}

struct Failure {
    step: &'static str,
    message: String,
    remedy: Option<String>,
}

async fn begin(
    plan: &Plan<CagePlan>,
    place: Place,
    reaper: &Reaper,
    pages: &Pages,
) -> Result<Arc<Browser>, Failure> {
    if let Some(endpoint) = plan.session.options.endpoint() {
        return begin_elsewhere(
            plan,
            Elsewhere { endpoint, proxy_port: place.proxy_port, deadline: ATTACH },
            pages,
        )
        .await;
    }
    let executable = find(plan.session.browser.as_deref()).map_err(|error| Failure {
        step: BROWSER,
        message: error.to_string(),
        remedy: Some(
            "install Chromium, for example with `apt-get install chromium`, or name it in the configuration"
                .to_owned(),
        ),
    })?;
    let inside = place.session;
    let environment = place.environment.into_iter().map(|(name, value)| (name.into(), value));
    let request = Launch {
        executable,
        version: None,
        profile: inside.join("profile"),
        environment: environment.collect(),
        proxy_port: Some(place.proxy_port),
        own_shared_memory: place.own_shared_memory,
        viewport: plan.session.viewport,
        language: plan.session.language.clone(),
        time_zone: plan.session.time_zone.clone(),
        authenticates: pages.authenticates(),
        ignore_certificate_errors: plan.session.options.ignore_certificate_errors == Some(true),
        deadline: LAUNCH,
    };
    let events = pages.clone();
    let browser = launch(&request, reaper, Limits::default(), move |event| events.on_event(&event)).await;
    let browser = browser.map_err(|error| failure(&error))?;
    let spool = inside.join("spool");
    let browser = Arc::new(browser);
    let spool = spool.to_string_lossy();
    let ready = pages.begin(browser.clone(), &spool);
    match tokio::time::timeout(LAUNCH, ready).await {
        Ok(Ok(())) => Ok(browser),
        Ok(Err(error)) => Err(Failure {
            step: BROWSER,
            message: format!("the browser's first page could not be set up: {error}"),
            remedy: None,
        }),
        Err(_) => Err(Failure {
            step: BROWSER,
            message: "the browser's first page did not become ready".to_owned(),
            remedy: None,
        }),
    }
}

/// Attaches to somebody else's browser, and to the page of it that is asked for.
async fn begin_elsewhere(
    plan: &Plan<CagePlan>,
    elsewhere: Elsewhere,
    pages: &Pages,
) -> Result<Arc<Browser>, Failure> {
    let events = pages.clone();
    let browser = attach(&elsewhere, Limits::default(), move |event| events.on_event(&event)).await;
    let browser = Arc::new(browser.map_err(|error| Failure {
        step: error.step(),
        message: error.to_string(),
        remedy: Some(error.remedy().to_owned()),
    })?);
    let wanted = plan.session.options.attach.as_ref().and_then(|attach| attach.target_id.as_ref());
    let begun = pages.begin_elsewhere(browser.clone(), wanted.map(TargetId::as_str));
    match tokio::time::timeout(ATTACH, begun).await {
        Ok(Ok(())) => Ok(browser),
        Ok(Err(error)) => Err(Failure {
            step: error.step(),
            message: error.to_string(),
            remedy: Some(error.remedy().to_owned()),
        }),
        Err(_) => Err(Failure {
            step: "attach_silent",
            message: "the browser did not say which pages it has".to_owned(),
            remedy: None,
        }),
    }
}

fn failure(error: &LaunchError) -> Failure {
    Failure { step: BROWSER, message: error.to_string(), remedy: error.remedy().map(str::to_owned) }
}

/// Serves gRPC on every connection that the daemon hands over.
async fn serve(service: Service, incoming: mpsc::Receiver<io::Result<UnixStream>>) {
    let service = WorkerServer::new(service)
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE);
    let incoming = tokio_stream::wrappers::ReceiverStream::new(incoming);
    if let Err(error) = tonic::transport::Server::builder().serve_with_incoming(service, incoming).await {
        tracing::error!(%error, "the service ended");
    }
}

async fn dial(dialled: &mpsc::Sender<io::Result<UnixStream>>, fd: OwnedFd) {
    let stream = std::os::unix::net::UnixStream::from(fd);
    let stream = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
    match stream {
        Ok(stream) => drop(dialled.send(Ok(stream)).await),
        Err(error) => tracing::warn!(%error, "a dialled connection cannot be used"),
    }
}

/// What the daemon says.
enum Heard {
    Dial(OwnedFd),
    Egress(OwnedFd),
    Told(ToWorker),
}

/// The next message of the daemon; `None` when the daemon is gone.
async fn receive(control: &Control) -> Option<Heard> {
    let mut buffer = [0_u8; 1024];
    loop {
        let received =
            control.socket.async_io(Interest::READABLE, || fdpass::recv(control.socket.as_fd(), &mut buffer));
        match received.await {
            Ok((0, _)) => return None,
            Ok((size, fds)) => {
                let heard = match (&buffer[..size], fds.into_iter().next()) {
                    (start::DIAL, Some(fd)) => Some(Heard::Dial(fd)),
                    (start::EGRESS, Some(fd)) => Some(Heard::Egress(fd)),
                    (text, None) => serde_json::from_slice(text).ok().map(Heard::Told),
                    _ => None,
                };
                if heard.is_some() {
                    return heard;
                }
                tracing::warn!(bytes = size, "a control message of an unknown kind");
            }
            Err(error) => {
                tracing::warn!(%error, "the control socket failed");
                return None;
            }
        }
    }
}

/// The control socket. A SEQPACKET socket, which the datagram type polls as well as its own.
struct Control {
    socket: UnixDatagram,
}

impl Control {
    fn new(fd: OwnedFd) -> io::Result<Self> {
        let socket = std::os::unix::net::UnixDatagram::from(fd);
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UnixDatagram::from_std(socket)? })
    }
}

/// Tells the daemon something. A daemon that is gone ends this process by the lifeline.
fn say(control: &Control, message: &FromWorker) {
    let sent = serde_json::to_vec(message).map_err(io::Error::other);
    let sent = sent.and_then(|json| fdpass::send(control.socket.as_fd(), &json, &[]));
    if let Err(error) = sent {
        tracing::warn!(%error, "the daemon could not be told");
    }
}
