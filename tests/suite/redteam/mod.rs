//! Attackers, one file each: a browser that was taken over, a hostile page, a hostile client, and another process of the
//! same user. For each: what it tries, and what it gets.

mod browser;
mod client;
mod local;
mod page;

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use glass_tests::World;
use glass_tests::site::site;
use serde_json::json;
use tempfile::TempDir;

/// No answer that an attacker can delay may take longer.
const LIMIT: Duration = Duration::from_secs(20);

/// A server of this machine that no rule allows. It answers nobody; what counts is who knocked.
struct Forbidden {
    tcp: TcpListener,
    udp: UdpSocket,
}

impl Forbidden {
    fn new() -> Self {
        loop {
            let tcp = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
            let port = tcp.local_addr().expect("it is bound").port();
            // The same number for both, so that a page need name one alone.
            if let Ok(udp) = UdpSocket::bind(("127.0.0.1", port)) {
                tcp.set_nonblocking(true).expect("do not wait");
                udp.set_nonblocking(true).expect("do not wait");
                return Self { tcp, udp };
            }
        }
    }

    fn port(&self) -> u16 {
        self.tcp.local_addr().expect("it is bound").port()
    }

    /// Proves that nobody came.
    #[track_caller]
    fn assert_untouched(&self) {
        assert!(self.tcp.accept().is_err(), "a connection reached a server that no rule allows");
        assert!(self.udp.recv(&mut [0; 1]).is_err(), "a packet reached a server that no rule allows");
    }
}

/// A policy that allows the fixture site at 127.0.0.1, and no other host.
fn only_the_site(world: &World) {
    let directory = world.path("config/glass");
    fs::create_dir_all(&directory).expect("the configuration directory");
    let file = directory.join("policy.toml");
    fs::write(&file, format!("allow_hosts = [\"127.0.0.1:{}\"]\n", site().port())).expect("write the policy");
    world.give(&directory);
    world.give(&file);
}

/// A program that was built with the tests, where every user and every cage can run it.
struct Misbehaving {
    _directory: TempDir,
    program: PathBuf,
}

impl Misbehaving {
    fn new() -> Self {
        // Not below /tmp, where a cage has a place of its own.
        let directory = tempfile::Builder::new().prefix("gr").tempdir_in("/var/tmp").expect("a directory");
        let program = directory.path().join("chromium-rogue");
        let beside = || std::env::current_exe().expect("this test").ancestors().nth(2).map(PathBuf::from);
        let built = std::env::var_os("GLASS_BIN_DIR").map(PathBuf::from).or_else(beside);
        let built = built.expect("the build directory").join("cage-misbehave");
        // `cp`, because what this process holds open for writing may be inherited by another test's child.
        let copied = Command::new("cp").arg(&built).arg(&program).status().expect("cp runs");
        assert!(copied.success(), "{} is built with the tests", built.display());
        for path in [directory.path(), &program] {
            open_to_all(path);
        }
        Self { _directory: directory, program }
    }

    /// Says what the browser is to reach. `victim` is a directory of the user's.
    fn plan(&self, forbidden: &Forbidden, paths: &[PathBuf], pids: &[i32], victim: &Path) {
        let plan = json!({
            "browser": real_browser(),
            "forbidden": forbidden.port(),
            "allowed": site().port(),
            "paths": paths,
            "pids": pids,
            "victim": victim,
        });
        let file = self.program.with_file_name("plan.json");
        fs::write(&file, plan.to_string()).expect("write the plan");
        open_to_all(&file);
    }

    /// The configuration that takes it for the browser.
    fn configuration(&self, more: &str) -> String {
        format!("{more}\n[browser]\npath = \"{}\"\n", self.program.display())
    }
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("open it to all");
}

/// A browser of this machine that is no script.
fn real_browser() -> PathBuf {
    let places =
        ["/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/opt/chromium.org/chromium/chromium"];
    let found = places.iter().map(PathBuf::from).find(|place| place.is_file());
    found.expect("a Chromium or Chrome in a usual place")
}
