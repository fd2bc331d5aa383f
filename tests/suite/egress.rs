//! The network of a session: every byte through the daemon's proxy, nothing beside it.

use std::fs;
use std::time::Duration;

use glass_tests::site::site;
use glass_tests::{World, can_look_inside, eventually, process, session_tree};

const LIMIT: Duration = Duration::from_secs(20);

/// The inode of the local end at this port of loopback, as the machine's table has it.
fn inode_of(port: u16) -> Option<String> {
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    let wanted = format!("0100007F:{port:04X}");
    let line = table.lines().find(|line| line.split_whitespace().nth(1) == Some(wanted.as_str()))?;
    Some(line.split_whitespace().nth(9)?.to_owned())
}

fn holds_socket(pid: i32, inode: &str) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let wanted = format!("socket:[{inode}]");
    entries
        .flatten()
        .any(|entry| fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy() == wanted))
}

// contract: 1.6, DESIGN 5
#[test]
fn the_server_is_reached_by_the_proxy_and_by_nothing_else() {
    if !can_look_inside() {
        return;
    }
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.eval("fetch('hang'); 1");
    let request = visit.asked_for("hang");
    let egress = session_tree::egress(world.daemon()).expect("the daemon has its proxy");
    let inode = eventually("the connection in the machine's table", LIMIT, || inode_of(request.peer));
    assert!(holds_socket(egress.pid, &inode), "the proxy holds the connection");
    let others: Vec<_> = process::tree(world.daemon())
        .into_iter()
        .filter(|process| process.pid != egress.pid && holds_socket(process.pid, &inode))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

// contract: 1.6, DESIGN 5
#[test]
fn no_process_of_a_session_has_a_socket_of_the_machines_network() {
    if !can_look_inside() {
        return;
    }
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.eval("fetch('hang'); new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:3478'}]}).createDataChannel('x'); 1");
    visit.asked_for("hang");
    let mut inodes = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "packet"] {
        let Ok(text) = fs::read_to_string(format!("/proc/net/{table}")) else { continue };
        let column = if table == "packet" { 8 } else { 9 };
        inodes.extend(
            text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(column).map(str::to_owned)),
        );
    }
    for process in world.session().all {
        for inode in &inodes {
            assert!(!holds_socket(process.pid, inode), "{process:?} holds socket {inode} of the machine");
        }
    }
}

// contract: 1.6, DESIGN 5
#[test]
fn udp_and_names_do_not_leave_the_cage() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    let listener = std::net::UdpSocket::bind(("127.0.0.1", 0)).expect("a UDP port");
    listener.set_nonblocking(true).expect("do not wait");
    let port = listener.local_addr().expect("it is bound").port();
    world.ok(&[
        "evaluate",
        &format!(
            "const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}}); c.createDataChannel('x');\
             c.createOffer().then((o) => c.setLocalDescription(o));\
             await new Promise((done) => {{ c.onicegatheringstatechange = () => c.iceGatheringState === 'complete' && done(); setTimeout(done, 2000) }}); return 1"
        ),
    ]);
    assert!(listener.recv(&mut [0; 1]).is_err(), "a packet left the cage");
    let failed = world.ok(&[
        "evaluate",
        "return await fetch('http://nowhere.invalid/').then(() => 'came', () => 'failed')",
    ]);
    assert_eq!(failed["value"], "failed");
}

// contract: 1.6
#[test]
fn the_sites_of_loopback_are_reached_by_every_name_of_it() {
    let world = World::new();
    let visit = site().visit();
    for host in ["127.0.0.1", "localhost", "a.localhost", "x.a.localhost"] {
        let result = world.ok(&["navigate", &visit.url_at(host, "form.html")]);
        assert_eq!(result["page"]["httpStatus"], 200, "{host}");
    }
    let hosts: Vec<_> = visit
        .requests()
        .into_iter()
        .filter(|request| request.path == "form.html")
        .map(|request| request.host)
        .collect();
    let port = site().port();
    assert_eq!(
        hosts,
        ["127.0.0.1", "localhost", "a.localhost", "x.a.localhost"].map(|host| format!("{host}:{port}"))
    );
}

// contract: DESIGN 5
#[test]
fn a_browser_without_a_page_asks_for_nothing() {
    let world = World::new();
    let visit = site().visit();
    world.ok(&["navigate", &visit.url("form.html")]);
    world.ok(&["screenshot"]);
    let paths: Vec<_> = visit.requests().into_iter().map(|request| request.path).collect();
    assert!(paths.iter().all(|path| path == "form.html" || path.contains("favicon")), "{paths:?}");
}
