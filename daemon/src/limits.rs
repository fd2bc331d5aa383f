//! Every limit and deadline of the daemon that is no setting, in one place (contract 1.5, 2.7, 11, 12.2).

use std::time::Duration;

/// Connections of clients at one time. Beyond it the next ones wait in the kernel's backlog.
pub const CONNECTIONS: usize = 256;
/// Connections of one process at one time. Further ones are ended at once, so that others find room.
pub const CONNECTIONS_OF_PROCESS: usize = 64;
/// How long a connection may take to begin to speak.
pub const PREFACE: Duration = Duration::from_secs(5);
/// Concurrent requests of one connection.
pub const STREAMS: u32 = 64;
/// Failed sessions whose reason is remembered; the oldest are forgotten first.
pub const TOMBSTONES: usize = 64;
/// Executions whose end is remembered, with errors of at most 8 KiB; the oldest are forgotten first.
pub const ENDED: usize = 512;
/// The same of one session.
pub const ENDED_A_SESSION: usize = 64;

/// A worker, its browser and the greeting, all together.
pub const START: Duration = Duration::from_secs(15);
/// How long a worker may take over its own shutdown, and then over SIGTERM (sandbox evidence, section 8).
pub const GRACE: Duration = Duration::from_secs(2);
/// How long the end of a killed process may take before the daemon says so in its log and goes on.
pub const KILL: Duration = Duration::from_secs(5);
/// How long running operations may go on when the daemon is asked to stop (contract 12.2).
pub const DRAIN: Duration = Duration::from_secs(5);
/// How long the last answers may take to reach clients before the process ends.
pub const FAREWELL: Duration = Duration::from_millis(500);
/// How long after its deadline a worker may still bring the true outcome of an operation.
pub const OVERTIME: Duration = Duration::from_secs(1);
/// How long the daemon asks a worker for the true outcome of an operation that was cancelled.
pub const TRUTH: Duration = Duration::from_secs(1);
/// How long a worker may take to say how it is.
pub const HEALTH: Duration = Duration::from_millis(200);
/// How long the probe may take.
pub const PROBE: Duration = Duration::from_secs(10);
/// How often the daemon looks whether its socket is still its own.
pub const SOCKET_CHECK: Duration = Duration::from_secs(1);
/// How long a new daemon waits for one that is ending. Clients wait 10 s for the new one, and shall hear why not.
pub const TAKEOVER: Duration = Duration::from_secs(8);

/// Longest line of a worker's standard error that is logged whole, in bytes.
pub const LOG_LINE: usize = 4 * 1024;
/// Lines of one worker's standard error that are logged in a second.
pub const LOG_LINES: u32 = 100;
/// Size at which the log file is rotated, in bytes.
pub const LOG_FILE: u64 = 10 * 1024 * 1024;
/// Rotated log files that are kept.
pub const LOG_FILES: u32 = 3;

/// The TCP port of the forwarder, on the cage's own loopback.
pub const FORWARD_PORT: u16 = 3128;
/// Viewport of a session, in CSS pixels (contract 12.7).
pub const VIEWPORT: (u32, u32) = (1280, 720);
