//! The room for streams of open pages. A client gets only a part of it, so that nobody takes the room of all others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pages::visitor_limiter::network_of;

/// The part of the room that one client may take: one in this number.
const CLIENT_PART: usize = 4;
/// Number of streams that a client may always have, for all people of a company behind one address.
const CLIENT_LEAST: usize = 64;

/// The room for streams. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LiveSeats {
    most: usize,
    taken: Arc<Mutex<SeatCounts>>,
}

#[derive(Debug, Default)]
struct SeatCounts {
    all: usize,
    by_client: HashMap<IpAddr, usize>,
}

/// The room of one stream, free again when it is dropped.
#[derive(Debug)]
pub struct LiveSeat {
    seats: LiveSeats,
    client: IpAddr,
}

impl LiveSeats {
    /// Room for this many streams.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Takes room for a stream of a client; `None` if there is none, or the client has its part.
    #[must_use]
    pub fn take(&self, client: IpAddr) -> Option<LiveSeat> {
        let client = network_of(client);
        let mut taken = self.lock();
        if taken.all >= self.most {
            return None;
        }
        let of_client = taken.by_client.entry(client).or_default();
        if *of_client >= CLIENT_LEAST.max(self.most / CLIENT_PART) {
            return None;
        }
        *of_client += 1;
        taken.all += 1;
        Some(LiveSeat { seats: self.clone(), client })
    }

    fn lock(&self) -> MutexGuard<'_, SeatCounts> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveSeat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        taken.all = taken.all.saturating_sub(1);
        if let Some(of_client) = taken.by_client.get_mut(&self.client) {
            *of_client = of_client.saturating_sub(1);
            if *of_client == 0 {
                taken.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_takes_a_quarter_of_the_room() {
        let seats = LiveSeats::new(1_000);
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let mut held: Vec<LiveSeat> = (0..300).filter_map(|_| seats.take(client(1))).collect();
        assert_eq!(held.len(), 250);
        held.extend(
            (0..1_000).filter_map(|number: u32| seats.take(IpAddr::from((number + 7).to_be_bytes()))),
        );
        assert_eq!(held.len(), 1_000);
        assert!(seats.take(client(2)).is_none());
        held.truncate(249);
        assert!(seats.take(client(1)).is_some() && seats.lock().by_client.len() == 1);
        drop(held);
        assert!(seats.lock().by_client.is_empty() && seats.lock().all == 0);
    }

    #[test]
    fn a_small_room_is_not_divided() {
        let seats = LiveSeats::new(2);
        let client = IpAddr::from([192, 0, 2, 1]);
        let held = [seats.take(client), seats.take(client)];
        assert!(held.iter().all(Option::is_some) && seats.take(client).is_none());
    }
}
