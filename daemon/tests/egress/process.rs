//! The program `glass-egress` itself, started as glassd starts it.

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command as Program, ExitStatus, Stdio};

use command_fds::{CommandFdExt, FdMapping};
use glass_daemon::egress::{Channel, Command, Event, MAX_MESSAGE_BYTES};
use glass_policy::egress::Rules;
use glass_sandbox::{Pidfd, fdpass};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{Server, Wire, within};

fn spawn(control: OwnedFd) -> Child {
    let mut program = Program::new(env!("CARGO_BIN_EXE_glass-egress"));
    program.args(["--control-fd", "3"]).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    program.fd_mappings(vec![FdMapping { parent_fd: control, child_fd: 3 }]).unwrap();
    program.spawn().unwrap()
}

async fn ended(mut child: Child) -> ExitStatus {
    let waiter = tokio::task::spawn_blocking(move || child.wait());
    within("glass-egress to end", waiter).await.unwrap().unwrap()
}

#[tokio::test]
async fn it_serves_with_an_empty_environment_and_ends_with_its_control_socket() {
    let (ours, theirs) = fdpass::pair().unwrap();
    let child = spawn(theirs);
    let control = Channel::new(ours).unwrap();
    let (endpoint, proxys) = fdpass::pair().unwrap();
    let session = Command::Session { id: "s1".into(), rules: Rules::allow_all(), upstream: None };
    control.send(&serde_json::to_vec(&session).unwrap(), &[proxys.as_fd()]).await.unwrap();

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let browser = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let passed = listener.accept().await.unwrap().0;
    Channel::new(endpoint).unwrap().send(b"c", &[passed.as_fd()]).await.unwrap();
    drop(passed);
    let (mut browser, server) = (Wire::new(browser), Server::start().await);
    let (head, _) = tokio::join!(
        browser.get(&server, "/"),
        server.answer_once("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    );
    assert!(head.contains("200 OK"), "{head}");

    control.send(b"nonsense", &[]).await.unwrap();
    let mut message = vec![0; MAX_MESSAGE_BYTES];
    let (length, _) = within("an event", control.recv(&mut message)).await.unwrap().unwrap();
    assert!(matches!(serde_json::from_slice(&message[..length]), Ok(Event::Invalid { .. })));

    drop(control);
    assert_eq!(ended(child).await.code(), Some(0));
}

#[tokio::test]
async fn it_refuses_to_be_started_by_hand() {
    for args in
        [&[][..], &["--control-fd"], &["--control-fd", "x"], &["--control-fd", "0"], &["--control-fd", "77"]]
    {
        let mut program = Program::new(env!("CARGO_BIN_EXE_glass-egress"));
        program.args(args).env_clear().stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null());
        assert_eq!(ended(program.spawn().unwrap()).await.code(), Some(1), "{args:?}");
    }
}

#[tokio::test]
async fn a_kill_of_it_is_seen_on_both_sockets() {
    let (ours, theirs) = fdpass::pair().unwrap();
    let child = spawn(theirs);
    let control = Channel::new(ours).unwrap();
    let (endpoint, proxys) = fdpass::pair().unwrap();
    let session = Command::Session { id: "s1".into(), rules: Rules::allow_all(), upstream: None };
    control.send(&serde_json::to_vec(&session).unwrap(), &[proxys.as_fd()]).await.unwrap();
    drop(proxys);
    Pidfd::open(child.id()).unwrap().signal(glass_sandbox::Signal::SIGKILL).unwrap();
    let endpoint = Channel::new(endpoint).unwrap();
    let mut message = [0; 64];
    assert!(within("the end of control", control.recv(&mut message)).await.unwrap().is_none());
    assert!(within("the end of the endpoint", endpoint.recv(&mut message)).await.unwrap().is_none());
    assert_eq!(ended(child).await.code(), None);
}
