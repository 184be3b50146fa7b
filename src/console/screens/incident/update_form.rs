//! The form for an update of an incident: its fields, and the preview of its text.

use serde_json::Value;

use crate::console::form_data::FormData;
use crate::console::visit::UserVisit;
use crate::id::Id;
use crate::model::access::Permission;
use crate::model::incident::IncidentStatus;
use crate::texts::markdown;

/// The form for an update.
pub(super) struct UpdateForm {
    pub(super) statuses: Vec<UpdateStatus>,
    pub(super) message: String,
    pub(super) notifies: bool,
    /// Reason for which the last attempt was refused.
    pub(super) problem: Option<String>,
    /// The text as HTML, as status pages show it.
    pub(super) preview: Option<String>,
    /// Makes a form that is sent twice have no second effect.
    pub(super) key: String,
}

/// A status that an update can state.
pub(super) struct UpdateStatus {
    pub(super) word: &'static str,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// A filled form for an update.
pub(super) struct EnteredUpdate<'a> {
    pub(super) form: &'a FormData,
    /// The status that the form states.
    pub(super) status: String,
    pub(super) problem: Option<String>,
    pub(super) has_preview: bool,
}

impl UpdateForm {
    /// Returns the form of an incident, empty or filled; `None` if the user may not post updates.
    pub(super) fn of(
        visit: &UserVisit,
        incident: &Value,
        entered: Option<&EnteredUpdate<'_>>,
    ) -> Option<Self> {
        let (may_post, may_resolve) =
            (visit.may(Permission::IncidentsEdit), visit.may(Permission::IncidentsResolve));
        if !may_post && !may_resolve {
            return None;
        }
        let asked = visit.visit.query.text("status");
        let present = incident["status"].as_str().unwrap_or_default();
        let chosen = match entered {
            Some(entered) => &entered.status,
            None if IncidentStatus::WORDS.contains(&asked) => asked,
            None => present,
        };
        let is_allowed = |word: &str| if word == "resolved" { may_resolve } else { may_post };
        let statuses = IncidentStatus::WORDS.iter().copied().filter(|word| is_allowed(word));
        let message = entered.map(|entered| entered.form.text("message")).unwrap_or_default();
        Some(Self {
            statuses: statuses
                .map(|word| UpdateStatus {
                    word,
                    text: visit.texts.text(&format!("word-{word}")),
                    is_chosen: word == chosen,
                })
                .collect(),
            notifies: entered.is_none_or(|entered| entered.form.has("notify_subscribers")),
            problem: entered.and_then(|entered| entered.problem.clone()),
            preview: entered.filter(|entered| entered.has_preview).map(|_| markdown::to_html(message)),
            message: message.to_owned(),
            key: Id::random().to_string(),
        })
    }
}
