//! The daemon from its start to its end.
//!
//! `build` can fail and does all that can; `run` cannot. Binds first and answers after everything is there, so that
//! clients that come early wait in the backlog instead of starting another daemon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use glass_proto::audit::{Entry, Event};
use glass_proto::paths::{Environment, Overrides, Paths};
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::activation::{self, Activated};
use crate::args::Args;
use crate::audit::Audit;
use crate::authority::{self, Authority};
use crate::config::Config;
use crate::confirm::{Approver, Confirmations, Ways};
use crate::exit::StartupError;
use crate::gate::{self, Executions, Gate, Limiters};
use crate::listen::{self, Listening};
use crate::rpc::{Service, View};
use crate::serve::{self, Clients};
use crate::session::{CloseReason, Registry};
use crate::shutdown::{Phase, Shutdown};
use crate::supervise::{
    Cgroups, Claims, Common, Egress, Launcher, Locale, Probe, Programs, Spawner, Watchdog, sweep,
};
use crate::{limits, logging, process};

/// What is decided before anything is touched.
#[derive(Debug)]
pub struct Plan {
    args: Args,
    activated: Option<Activated>,
    paths: Paths,
    config: Config,
    authority: Authority,
}

impl Plan {
    /// Paths and configuration by command line and environment.
    ///
    /// # Errors
    /// There is no place for the state, or the configuration or the policy is broken.
    pub fn make(args: Args, activated: Option<Activated>) -> Result<Self, StartupError> {
        let absolute = |path: Option<std::path::PathBuf>| {
            path.map(std::path::absolute)
                .transpose()
                .map_err(StartupError::system("find the current directory"))
        };
        let overrides = Overrides {
            // Where the service manager listens is where clients come.
            socket: match &activated {
                Some(activated) => Some(activated.path.clone()),
                None => absolute(args.socket.clone())?,
            },
            state_dir: absolute(args.state_dir.clone())?,
        };
        let environment = Environment::of_process();
        let paths = Paths::resolve(&environment, &overrides)?;
        let given = absolute(args.config.clone())?;
        let policy = match &given {
            Some(file) => file.with_file_name("policy.toml"),
            None => paths.policy_file(),
        };
        let file = given.unwrap_or_else(|| paths.config_file());
        let config = Config::load(
            &file,
            std::env::var("GLASS_LOG").ok(),
            environment.home.as_deref().map(std::path::Path::new),
        )?;
        let authority = Authority::load(policy)?;
        Ok(Self { args, activated, paths, config, authority })
    }
}

/// A daemon that listens and has not answered yet.
pub struct App {
    listening: Listening,
    listener: UnixListener,
    clients: Clients,
    shutdown: Shutdown,
    view: View,
    closed: watch::Sender<Option<u32>>,
    idle_exit: Option<Duration>,
}

impl App {
    /// Takes the socket, opens everything, removes what a dead daemon left.
    ///
    /// # Errors
    /// Why the daemon cannot serve.
    pub async fn build(plan: Plan, spawner: Spawner) -> Result<Self, StartupError> {
        let Plan { args, activated, paths, config, authority } = plan;
        let (listening, listener) = listen::listen(&paths, activated, limits::TAKEOVER).await?;
        let log = (!args.foreground).then(|| paths.log_file());
        logging::start(log.as_deref(), config.log.clone()).map_err(StartupError::system("open the log"))?;
        let programs = Programs::open(config.programs.as_deref())?;
        listen::make_private_dir(&paths.sessions_dir)?;
        let shutdown = Shutdown::default();
        shutdown.follow_signals().map_err(StartupError::system("follow signals"))?;
        // From here on whoever started us may go.
        process::let_go(args.foreground).map_err(StartupError::system("let go of the standard streams"))?;
        tracing::info!(pid = std::process::id(), socket = %paths.socket.display(), "glassd listens");
        sweep_away(&paths).await;
        let audit = match config.audit {
            Some(limits) => {
                let dir = paths.audit_dir();
                listen::make_private_dir(&dir)?;
                Audit::start(&dir, limits, &shutdown).map_err(StartupError::system("open the audit log"))?
            }
            None => Audit::off(),
        };

        let ways = Ways {
            secret: config.confirm_secret,
            approver: config.confirm_approver.map(|(path, args)| Approver::new(path, args, spawner.clone())),
        };
        let confirmations = Confirmations::new(ways, audit.clone(), shutdown.clone());
        let keeping = confirmations.clone();
        shutdown.spawn("confirmations", async move { keeping.keep_short().await });
        let cgroups = Cgroups::take();
        match &cgroups {
            Ok(cgroups) => {
                tracing::info!(controllers = ?cgroups.controllers(), "control groups for sessions")
            }
            Err(why) => tracing::info!(why, "no control groups for sessions"),
        }
        let launcher = Arc::new(Launcher {
            cgroups,
            watchdog: Watchdog::start(config.quotas, &shutdown),
            claims: Claims::default(),
            egress: Egress::start(
                spawner.clone(),
                programs.egress,
                authority.changes(),
                config.upstream,
                &shutdown,
            ),
            probe: Probe::new(spawner.clone(), programs.worker.clone(), shutdown.clone()),
            spawner,
            program: programs.worker,
            common: Common {
                minimum: config.minimum,
                browser: config.browser,
                test_id_attribute: config.test_id_attribute,
                log: config.log_text,
                locale: Locale::of_process(),
                credentials: config.http_credentials,
            },
            sessions: paths.sessions_dir.clone(),
            slots: Semaphore::new(config.starting),
            starting: config.starting,
            tasks: shutdown.clone(),
        });
        let probing = launcher.clone();
        // By the time that somebody asks, it has an answer; the first session does not wait for all of it.
        shutdown.spawn("sandbox probe", async move {
            probing.probe.found().await;
        });
        let looking = authority.clone();
        shutdown.spawn("policy", async move {
            loop {
                sleep(authority::LOOK_EVERY).await;
                looking.look();
            }
        });
        let registry = Registry::new(launcher.clone(), config.max_sessions, config.idle_timeouts);
        let (sessions, mut changes) = (registry.clone(), authority.changes());
        let noting = audit.clone();
        shutdown.spawn("policy changes", async move {
            let mut old = changes.borrow_and_update().clone();
            while changes.changed().await.is_ok() {
                let new = changes.borrow_and_update().clone();
                noting.note(Entry::new(Event::PolicyChanged)).await;
                sessions.policy_changed(&old, &new);
                old = new;
            }
        });
        let limiters = Limiters::new(config.rates);
        let forgetting = limiters.clone();
        shutdown.spawn("rates", async move {
            loop {
                sleep(gate::FORGET_EVERY).await;
                forgetting.forget();
            }
        });
        let executions = Executions::new(config.in_flight);
        let (closed, seen) = watch::channel(None);
        let view = View {
            gate: Gate::new(
                registry.clone(),
                executions.clone(),
                shutdown.clone(),
                authority.clone(),
                limiters.clone(),
                audit.clone(),
                confirmations,
            ),
            authority,
            audit,
            executions,
            registry,
            launcher,
            shutdown: shutdown.clone(),
            closed: seen,
            paths,
            log,
            begun: Instant::now(),
        };
        let idle_exit = config.idle_exit.filter(|_| args.from_client);
        Ok(Self { listening, listener, clients: Clients::default(), shutdown, view, closed, idle_exit })
    }

    /// Serves until told to stop, and ends everything. True when nothing went wrong with the daemon itself.
    pub async fn run(self) -> bool {
        let Self { listening, listener, clients, shutdown, view, closed, idle_exit } = self;
        let (server_ended, mut server) = watch::channel(());
        let serving = serve::serve(listener, Service(view.clone()), clients.clone(), shutdown.clone());
        shutdown.spawn_vital("server", async move {
            serving.await;
            drop(server_ended);
        });
        activation::notify("READY=1");
        let idle = watch_idle(idle_exit, view.registry.clone(), clients);
        tokio::select! {
            () = shutdown.reached(Phase::Draining) => {}
            () = listening.gone() => shutdown.advance(Phase::Draining, "the socket is no longer in its place"),
            () = idle => shutdown.advance(Phase::Draining, "no session and no client for a long time"),
        }
        activation::notify("STOPPING=1");
        tokio::select! {
            () = view.executions.none() => {}
            () = shutdown.reached(Phase::Stopping) => {}
            () = sleep(limits::DRAIN) => {}
        }
        shutdown.advance(Phase::Stopping, "running operations had their time");
        // Each is cancelled now, and its worker may still say what became of it.
        let _ = timeout(2 * limits::TRUTH, view.executions.none()).await;
        let ended = close_sessions(&view.registry).await;
        view.audit.note(Entry::new(Event::Stopped)).await;
        view.audit.flush().await;
        listening.unlink();
        closed.send_replace(Some(ended));
        shutdown.advance(Phase::Stopped, "all sessions are closed");
        // Until the last answers are out; a client that does not read them is not waited for.
        let _ = timeout(limits::FAREWELL, server.changed()).await;
        tracing::info!("glassd ends");
        !shutdown.broken()
    }
}

async fn sweep_away(paths: &Paths) {
    let sessions = paths.sessions_dir.clone();
    match tokio::task::spawn_blocking(move || sweep(&sessions)).await {
        Ok(Ok(0)) => {}
        Ok(Ok(count)) => tracing::info!(count, "what sessions of a dead daemon left was removed"),
        Ok(Err(error)) => tracing::warn!(%error, "left-over sessions could not be looked for"),
        Err(error) => tracing::error!(%error, "the removal of left-over sessions broke off"),
    }
}

async fn close_sessions(registry: &Registry) -> u32 {
    let limit = 3 * limits::GRACE + limits::KILL;
    let live = registry.live();
    let all = async {
        registry.close_all(CloseReason::Shutdown).await;
        registry.all_gone().await;
    };
    if timeout(limit, all).await.is_err() {
        // They die with this process; their directories are for the next one.
        tracing::error!("some sessions did not end in time");
    }
    u32::try_from(live).unwrap_or(u32::MAX)
}

/// Ends when there was neither session nor client for `limit`.
async fn watch_idle(limit: Option<Duration>, registry: Registry, clients: Clients) {
    let Some(limit) = limit else { return std::future::pending().await };
    let tick = (limit / 8).clamp(Duration::from_millis(20), Duration::from_secs(15));
    let mut since = Instant::now();
    while since.elapsed() < limit {
        sleep(tick).await;
        if registry.live() > 0 || clients.count() > 0 {
            since = Instant::now();
        }
    }
}
