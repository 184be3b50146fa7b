//! A user of the bus that tries any operation without our own client code, and reads the server's errors.

use std::sync::{Arc, Mutex};

use async_nats::{Auth, AuthError, Client, ConnectOptions, Event};
use bytes::Bytes;
use watchkeeper::bus::credentials::BusCredentials;
use watchkeeper::bus::users::inbox_prefix;

use crate::bus::{Bus, until};

/// A connection of its own, and the errors that the server sent to it.
pub(crate) struct Rogue {
    pub(crate) client: Client,
    said: Arc<Mutex<Vec<String>>>,
}

impl Rogue {
    pub(crate) async fn connect(bus: &Bus, credentials: BusCredentials) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&said);
        let prefix = inbox_prefix(&credentials.holder().name);
        let credentials = Arc::new(credentials);
        let prove = move |nonce: Vec<u8>| {
            let credentials = Arc::clone(&credentials);
            async move {
                let mut auth = Auth::new();
                auth.jwt = Some(credentials.token().to_owned());
                auth.signature = Some(credentials.prove(&nonce).map_err(AuthError::new)?);
                Ok(auth)
            }
        };
        let options = ConnectOptions::with_auth_callback(prove)
            .add_root_certificates(bus.files.authority.clone())
            .custom_inbox_prefix(prefix)
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    hears.lock().unwrap().push(error.to_string());
                }
                std::future::ready(())
            });
        Self { client: options.connect(bus.url()).await.unwrap(), said }
    }

    /// Publishes, and expects to be refused for it.
    pub(crate) async fn is_refused_to_publish(&self, subject: &str) {
        self.client.publish(subject.to_owned(), Bytes::from_static(b"{}")).await.unwrap();
        self.hears(&format!("Permissions Violation for Publish to \"{subject}\"")).await;
    }

    /// Subscribes, and expects to be refused for it.
    pub(crate) async fn is_refused_to_subscribe(&self, subject: &str) {
        let _subscription = self.client.subscribe(subject.to_owned()).await.unwrap();
        self.hears(&format!("Permissions Violation for Subscription to \"{subject}\"")).await;
    }

    async fn hears(&self, sentence: &str) {
        self.client.flush().await.unwrap();
        let sentence = sentence.to_lowercase();
        until(&sentence, async || self.said().iter().any(|said| said.to_lowercase().contains(&sentence)))
            .await;
    }

    /// Errors that the server has reported.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}
