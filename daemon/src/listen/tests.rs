use glass_proto::paths::{Environment, Overrides};

use super::*;

const SHORT: Duration = Duration::from_millis(200);

fn paths(dir: &Path) -> Paths {
    let overrides =
        Overrides { socket: Some(dir.join("run/glassd.sock")), state_dir: Some(dir.join("state")) };
    Paths::resolve(&Environment::default(), &overrides).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o777
}

#[tokio::test]
async fn everything_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    let (listening, _listener) = listen(&paths, None, SHORT).await.unwrap();
    assert!(listening.is_in_place());
    assert_eq!((mode(&paths.runtime_dir), mode(&paths.state_dir)), (0o700, 0o700));
    assert_eq!((mode(&paths.socket), mode(&paths.lock), mode(&paths.state_lock())), (0o600, 0o600, 0o600));
}

#[tokio::test]
async fn a_second_daemon_is_told_who_serves() {
    let dir = tempfile::tempdir().unwrap();
    let first = paths(dir.path());
    let held = listen(&first, None, SHORT).await.unwrap();
    assert!(matches!(listen(&first, None, SHORT).await, Err(ListenError::Served { .. })));

    let mut other = first.clone();
    other.runtime_dir = dir.path().join("other");
    other.socket = other.runtime_dir.join("glassd.sock");
    other.lock = other.runtime_dir.join("glassd.lock");
    let error = listen(&other, None, SHORT).await.unwrap_err();
    assert!(error.to_string().contains(&first.socket.display().to_string()), "{error}");
    drop(held);
    listen(&other, None, SHORT).await.unwrap();
}

#[tokio::test]
async fn a_dead_daemons_socket_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    drop(listen(&paths, None, SHORT).await.unwrap());
    assert!(paths.socket.exists(), "a crash leaves the socket");
    let (listening, _listener) = listen(&paths, None, SHORT).await.unwrap();
    assert!(listening.is_in_place());
}

#[tokio::test]
async fn what_is_no_socket_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    std::fs::create_dir_all(&paths.runtime_dir).unwrap();
    std::fs::write(&paths.socket, "").unwrap();
    assert!(matches!(listen(&paths, None, SHORT).await, Err(ListenError::NotASocket { .. })));
    assert!(paths.socket.is_file());
    std::fs::remove_file(&paths.socket).unwrap();
    std::fs::create_dir(&paths.socket).unwrap();
    assert!(matches!(listen(&paths, None, SHORT).await, Err(ListenError::NotASocket { .. })));
    assert!(paths.socket.is_dir());
}

#[tokio::test]
async fn a_foreign_listener_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    std::fs::create_dir_all(&paths.runtime_dir).unwrap();
    let _foreign = UnixListener::bind(&paths.socket).unwrap();
    assert!(matches!(listen(&paths, None, SHORT).await, Err(ListenError::Foreign { .. })));
}

#[tokio::test]
async fn a_new_daemon_waits_for_one_that_ends() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    let (ending, listener) = listen(&paths, None, SHORT).await.unwrap();
    ending.unlink();
    drop(listener);
    let next = listen(&paths, None, Duration::from_secs(10));
    tokio::pin!(next);
    assert!(tokio::time::timeout(SHORT, &mut next).await.is_err(), "the lock is held");
    drop(ending);
    next.await.unwrap();
}

#[tokio::test]
async fn a_moved_directory_is_noticed_and_the_new_socket_is_not_removed() {
    let dir = tempfile::tempdir().unwrap();
    let paths = paths(dir.path());
    let (listening, _listener) = listen(&paths, None, SHORT).await.unwrap();
    std::fs::rename(&paths.runtime_dir, dir.path().join("away")).unwrap();
    tokio::time::timeout(Duration::from_secs(5), listening.gone()).await.unwrap();
    std::fs::create_dir(&paths.runtime_dir).unwrap();
    let _other = UnixListener::bind(&paths.socket).unwrap();
    listening.unlink();
    assert!(paths.socket.exists());
}

#[tokio::test]
async fn a_directory_of_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("target");
    std::fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, dir.path().join("run")).unwrap();
    assert!(matches!(listen(&paths(dir.path()), None, SHORT).await, Err(ListenError::Unsafe { .. })));
}
