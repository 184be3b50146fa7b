//! The notice that the template of a channel cannot be filled: what it is about, and what it says.
//!
//! Its source is the id of the channel. The courier begins it with the first message that goes out as facts, `notices` at the start
//! of a program that does not know the language of a stored template; `notices` ends it.

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

/// The channel that a notice is about; `None` for other notices of the same event.
#[must_use]
pub fn channel_of_source(source: &Source) -> Option<Id> {
    (source.event == TEMPLATE_EVENT).then(|| source.name.parse().ok()).flatten()
}

/// What is wrong with a channel whose template cannot be filled.
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
