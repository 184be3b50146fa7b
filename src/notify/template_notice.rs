//! The notice about a channel's template that cannot be filled: its subject and its text.
//!
//! Its source is the id of the channel. The courier opens it with the first message that is sent as facts, `notices` at the start
//! of a version that cannot parse a stored template; `notices` closes it.

use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{Source, Trouble, Words};
use crate::model::notification::{Channel, Event};
use crate::texts::Text;

/// The event of the notice.
pub const TEMPLATE_EVENT: Event = Event::MonitorTrouble;

/// The source of the notice about a channel.
#[must_use]
pub fn template_source(channel: &Channel) -> Source {
    Source { organisation: channel.organisation, event: TEMPLATE_EVENT, name: channel.id.to_string() }
}

/// Returns the channel of a notice; `None` for other notices of the same event.
#[must_use]
pub fn channel_of_source(source: &Source) -> Option<Id> {
    (source.event == TEMPLATE_EVENT).then(|| source.name.parse().ok()).flatten()
}

/// Returns the trouble of a channel whose template cannot be filled.
#[must_use]
pub fn template_trouble(channel: &Channel, organisation: &Organisation, flaw: &str) -> Trouble {
    let title = Text::about("template-broken", &channel.name);
    let text = Text::new("template-broken-text").with_note(flaw);
    Trouble {
        source: template_source(channel),
        severity: Severity::Major,
        words: Words { title: title.in_default(organisation), text: text.in_default(organisation) },
        service: None,
    }
}
