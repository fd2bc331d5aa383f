//! The operations that are in flight: how many a client has, and how one is cancelled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glass_proto::{ClientId, ExecutionId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// All of them. The lock is never held across an await.
#[derive(Clone, Debug)]
pub struct Executions {
    limit: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    map: Mutex<HashMap<ExecutionId, Entry>>,
    count: watch::Sender<usize>,
}

#[derive(Debug)]
struct Entry {
    client: ClientId,
    cancel: CancellationToken,
}

/// One that is in flight until this is dropped.
#[derive(Debug)]
pub struct InFlight {
    executions: Executions,
    id: ExecutionId,
    /// Cancelled when a client asks for it.
    pub cancel: CancellationToken,
}

impl Executions {
    /// None yet; a client may have `limit` at one time.
    pub fn new(limit: usize) -> Self {
        let shared = Shared { map: Mutex::default(), count: watch::Sender::new(0) };
        Self { limit, shared: Arc::new(shared) }
    }

    /// Enters one.
    ///
    /// # Errors
    /// How many the client has already, where that is as many as it may.
    pub fn enter(&self, client: &ClientId, id: &ExecutionId) -> Result<InFlight, usize> {
        let mut map = self.map();
        let used = map.values().filter(|entry| entry.client == *client).count();
        if used >= self.limit {
            return Err(used);
        }
        let cancel = CancellationToken::new();
        map.insert(id.clone(), Entry { client: client.clone(), cancel: cancel.clone() });
        self.shared.count.send_replace(map.len());
        Ok(InFlight { executions: self.clone(), id: id.clone(), cancel })
    }

    /// Cancels one; false where there is none of that id.
    pub fn cancel(&self, id: &ExecutionId) -> bool {
        let map = self.map();
        let found = map.get(id);
        if let Some(entry) = found {
            entry.cancel.cancel();
        }
        found.is_some()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// Waits until there is none.
    pub async fn none(&self) {
        let mut count = self.shared.count.subscribe();
        // The sender lives in `self`.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn map(&self) -> MutexGuard<'_, HashMap<ExecutionId, Entry>> {
        self.shared.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut map = self.executions.map();
        map.remove(&self.id);
        self.executions.shared.count.send_replace(map.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_own_bound() {
        let executions = Executions::new(2);
        let (one, two) = (ClientId::generate(), ClientId::generate());
        let ids: Vec<_> = (0..4).map(|_| ExecutionId::generate()).collect();
        let first = executions.enter(&one, &ids[0]).unwrap();
        let _second = executions.enter(&one, &ids[1]).unwrap();
        assert_eq!(executions.enter(&one, &ids[2]).unwrap_err(), 2);
        let _other = executions.enter(&two, &ids[2]).unwrap();
        drop(first);
        let _third = executions.enter(&one, &ids[3]).unwrap();
        assert_eq!(executions.count(), 3);
    }

    #[tokio::test]
    async fn cancelling_finds_only_what_runs() {
        let executions = Executions::new(2);
        let id = ExecutionId::generate();
        assert!(!executions.cancel(&id));
        let running = executions.enter(&ClientId::generate(), &id).unwrap();
        assert!(executions.cancel(&id));
        assert!(running.cancel.is_cancelled());
        drop(running);
        executions.none().await;
        assert!(!executions.cancel(&id));
    }
}
