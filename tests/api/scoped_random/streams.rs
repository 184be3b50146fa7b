//! Events that confined tokens receive meanwhile: one stream each, searched like the responses.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::scoped_random::truth::{Seen, Thing, Truth};
use crate::support::client::Client;
use crate::support::listener::Listener;

/// Long enough for whatever has been sent.
const SENT: Duration = Duration::from_millis(150);

/// A stream of events for each confined client.
pub(super) struct Streams {
    open: Vec<Stream>,
    /// Everything that there ever was.
    known: BTreeMap<String, Thing>,
    /// Received events.
    pub(super) heard: usize,
}

struct Stream {
    scope: String,
    client: Client,
    listener: Listener,
    /// Resources shown by the scope since the last comparison and before it: an event was true a moment ago.
    seen: Seen,
    seen_before: Seen,
}

impl Streams {
    /// Opens a stream for each of these clients, who are given with the ids of their scopes.
    pub(super) fn open(confined: &[(Client, String)]) -> Self {
        let open = confined.iter().map(|(client, scope)| Stream {
            scope: scope.clone(),
            client: client.clone(),
            listener: Listener::open(client, "", None),
            seen: Seen::default(),
            seen_before: Seen::default(),
        });
        Self { open: open.collect(), known: BTreeMap::new(), heard: 0 }
    }

    /// Notes what there is now, and what of it each scope shows.
    pub(super) fn note(&mut self, truth: &Truth) {
        self.known.extend(truth.things.iter().map(|thing| (thing.id.clone(), thing.clone())));
        for stream in &mut self.open {
            stream.seen = stream.seen.with(&truth.seen(&stream.scope));
        }
    }

    /// Searches the events since the last search for anything unseen.
    pub(super) fn check(&mut self, about: &str) {
        for stream in &mut self.open {
            while let Some(event) = stream.listener.within(SENT) {
                self.heard += 1;
                let told = event.data.to_string();
                let is_seen = |id: &String| stream.seen.contains(id) || stream.seen_before.contains(id);
                for (id, thing) in self.known.iter().filter(|(id, _)| !is_seen(id)) {
                    for word in thing.words.iter().chain([id]) {
                        assert!(
                            !told.contains(word.as_str()),
                            "{about}: {} {word} is told: {told}",
                            thing.kind
                        );
                    }
                }
            }
            if stream.listener.has_ended() {
                stream.listener = Listener::open(&stream.client, "", None);
            }
            stream.seen_before = std::mem::take(&mut stream.seen);
        }
    }
}
