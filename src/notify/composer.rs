//! Creates the request of a message: directly for most kinds, on a thread of its own for custom templates.
//!
//! The cost of a template is bounded, and only a few are filled at a time, so that the templates of one organisation leave
//! processor and memory to the engine. If filling panics, only this attempt fails.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::id::Id;
use crate::model::notification::ChannelKind;
use crate::model::notification::message::NotificationMessage;
use crate::notify::kinds::{
    ChannelDefinition, MessageEnvelope, OpenSettings, OutgoingDelivery, UnusableSetting,
};

/// Maximum number of templates that are filled at the same time.
const AT_ONCE: usize = 2;

/// Turns messages into the requests of their channels.
#[derive(Clone, Debug)]
pub struct MessageComposer {
    slots: Arc<Semaphore>,
}

impl Default for MessageComposer {
    fn default() -> Self {
        Self { slots: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// The reason why a message has no request.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComposeFailure {
    /// The settings are not usable.
    #[error(transparent)]
    Settings(#[from] UnusableSetting),
    /// A defect of this program.
    #[error("The message could not be composed")]
    Broken,
}

impl MessageComposer {
    /// Builds the HTTP request or mail that carries a message.
    pub(super) async fn compose(
        &self,
        definition: &'static ChannelDefinition,
        envelope: &MessageEnvelope<'_>,
    ) -> Result<OutgoingDelivery, ComposeFailure> {
        if definition.kind != ChannelKind::Template {
            return Ok((definition.compose)(envelope)?);
        }
        let permit = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| ComposeFailure::Broken)?;
        let owned = OwnedEnvelope::copy(envelope);
        let work = tokio::task::spawn_blocking(move || {
            let composed = (definition.compose)(&owned.as_envelope());
            // Held until the work is done, even if the caller no longer waits for it.
            drop(permit);
            composed
        });
        match work.await {
            Ok(composed) => Ok(composed?),
            Err(error) => {
                tracing::error!(kind = %definition.kind, %error, "cannot compose a message");
                Err(ComposeFailure::Broken)
            }
        }
    }
}

/// A copy of an envelope that can be moved to another thread.
struct OwnedEnvelope {
    id: Id,
    at_seconds: i64,
    message: NotificationMessage,
    settings: OpenSettings,
    recipient: Option<String>,
}

impl OwnedEnvelope {
    fn copy(envelope: &MessageEnvelope<'_>) -> Self {
        let MessageEnvelope { id, at_seconds, message, settings, recipient } = *envelope;
        Self {
            id: *id,
            at_seconds,
            message: message.clone(),
            settings: settings.clone(),
            recipient: recipient.map(str::to_owned),
        }
    }

    fn as_envelope(&self) -> MessageEnvelope<'_> {
        MessageEnvelope {
            id: &self.id,
            at_seconds: self.at_seconds,
            message: &self.message,
            settings: &self.settings,
            recipient: self.recipient.as_deref(),
        }
    }
}
