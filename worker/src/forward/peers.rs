//! Who may use the forwarder.
//!
//! In a cage with a network of its own nobody else can knock. In the network of the host every user of the machine can,
//! and would get the session's way out; the kernel's table of connections says whose a connection is.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};

use nix::unistd::geteuid;
use tokio::net::TcpStream;

/// Whose connections are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// All: only the cage's processes can reach the listener.
    Cage,
    /// Those of this process's own uid.
    Own,
}

impl Peers {
    /// Whether a connection that was accepted from `peer` is taken. Reads a small file of /proc where it must be known.
    ///
    /// # Errors
    /// It is somebody else's, or nobody's any more.
    pub(super) fn admit(self, connection: &TcpStream, peer: SocketAddr) -> io::Result<()> {
        if self == Self::Cage {
            return Ok(());
        }
        let (SocketAddr::V4(peer), SocketAddr::V4(own)) = (peer, connection.local_addr()?) else {
            return Err(io::Error::other("it is no IPv4 connection"));
        };
        match owner(&std::fs::read_to_string("/proc/self/net/tcp")?, peer, own) {
            Some(uid) if uid == geteuid().as_raw() => Ok(()),
            Some(uid) => Err(io::Error::other(format!("it belongs to uid {uid}"))),
            None => Err(io::Error::other("it is gone already")),
        }
    }
}

/// The uid of the socket at `from` that is connected to `to`.
fn owner(table: &str, from: SocketAddrV4, to: SocketAddrV4) -> Option<u32> {
    let (from, to) = (hexadecimal(from), hexadecimal(to));
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let (local, remote) = (fields.nth(1)?, fields.next()?);
        // Then state, queues, timer and retransmissions.
        if local == from && remote == to { fields.nth(4)?.parse().ok() } else { None }
    })
}

/// An address as the table has it: the four bytes as one number of this machine.
fn hexadecimal(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_owner_of_a_connection_is_found() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, peer) = listener.accept().await.unwrap();
        assert!(Peers::Own.admit(&accepted, peer).is_ok());
        let elsewhere = "127.0.0.1:1".parse().unwrap();
        assert!(Peers::Own.admit(&accepted, elsewhere).is_err());
        drop(client);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_table_is_read_by_both_ends() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:0C38 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n\
             1: 0100007F:9C40 0100007F:0C38 01 00000000:00000000 00:00000000 00000000  1001        0 2 1\n\
             2: 0100007F:0C38 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 3 1\n";
        let (client, server) = ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:3128".parse().unwrap());
        assert_eq!(owner(table, client, server), Some(1001));
        assert_eq!(owner(table, server, client), Some(1000));
        assert_eq!(owner(table, server, server), None);
    }
}
