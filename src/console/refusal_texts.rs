//! Why the API refuses an operation, in the languages of the console.

use fluent_bundle::{FluentArgs, FluentValue};

use crate::backup::RequestError;
use crate::console::console_texts::ConsoleTexts;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::quota::QuotaExceeded;

impl ConsoleTexts {
    /// Why the API refuses; in English, as the API says it, if there is no translation.
    pub(super) fn of_refusal(self, error: &ApiError) -> String {
        self.refusal(error).unwrap_or_else(|| error.to_string())
    }

    fn refusal(self, error: &ApiError) -> Option<String> {
        match error {
            ApiError::Conflict(conflict) => self.conflict(conflict),
            ApiError::Quota(exceeded) => self.exceeded(exceeded),
            ApiError::Confined => Some(self.text("error-confined")),
            ApiError::Fields(errors) => Some(self.of_rules(errors)),
            ApiError::Shared(_) => self.translation("refused-shared", &FluentArgs::new()),
            ApiError::VerifyCooldown(seconds) => self.later("refused-verify-cooldown", *seconds),
            ApiError::Simulating(seconds) => self.later("refused-simulating", *seconds),
            ApiError::TooManyTrials(seconds) => self.later("refused-too-many-trials", *seconds),
            ApiError::CheckCooldown(seconds) => self.later("refused-check-cooldown", *seconds),
            _ => None,
        }
    }

    /// Why the values of some fields are refused, one sentence after the other.
    fn of_rules(self, errors: &FieldErrors) -> String {
        let rules: Vec<String> = errors.iter().map(|(_, rule)| self.of_rule(rule)).collect();
        rules.join(" ")
    }

    fn conflict(self, conflict: &StateConflict) -> Option<String> {
        let mut arguments = FluentArgs::new();
        let mut state = |name: &'static str, state: &str| {
            arguments.set("state", FluentValue::from(self.state(state)));
            name
        };
        let name = match conflict {
            StateConflict::Transition { status, needed } => {
                let name = state("refused-transition", status);
                let needed: Vec<String> = needed.iter().map(|state| self.state(state)).collect();
                arguments.set("needed", FluentValue::from(needed.join(", ")));
                name
            }
            StateConflict::WindowLocked(status) => state("refused-window-locked", status),
            StateConflict::CoverOver(status) => state("refused-cover-over", status),
            StateConflict::IncidentResolved => "refused-incident-resolved",
            StateConflict::MessageOvertaken => "refused-message-overtaken",
            StateConflict::ServicePaused => "refused-service-paused",
            StateConflict::NotChecked => "refused-not-checked",
            StateConflict::SeriesCancelled => "refused-series-cancelled",
            StateConflict::Backup(RequestError::NoFolder) => "refused-backup-folder",
            StateConflict::Backup(RequestError::NoTime) => "refused-backup-time",
            StateConflict::Backup(RequestError::Running(name)) => {
                arguments.set("name", FluentValue::from(name.as_str()));
                "refused-backup-running"
            }
        };
        self.translation(name, &arguments)
    }

    /// The word for a state of a resource.
    fn state(self, state: &str) -> String {
        self.text_or(&format!("word-{}", state.replace('_', "-")), state)
    }

    fn exceeded(self, exceeded: &QuotaExceeded) -> Option<String> {
        let things = exceeded.quota.key().replace('_', "-");
        let things = self.translation(&format!("quota-{things}"), &FluentArgs::new())?;
        let mut arguments = FluentArgs::new();
        arguments.set("things", FluentValue::from(things));
        arguments.set("limit", FluentValue::from(exceeded.limit));
        arguments.set("usage", FluentValue::from(exceeded.usage));
        self.translation("refused-quota", &arguments)
    }

    fn later(self, name: &str, seconds: u64) -> Option<String> {
        let mut arguments = FluentArgs::new();
        arguments.set("seconds", FluentValue::from(seconds));
        self.translation(name, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::kit::quota::PlanQuota;
    use crate::http::kit::rule::FieldRule;

    const fn quota(quota: PlanQuota) -> ApiError {
        ApiError::Quota(QuotaExceeded { quota, limit: 5, usage: 5 })
    }

    #[rstest]
    #[case(
        StateConflict::Transition { status: "completed", needed: &["scheduled", "in_progress"] }.into(),
        "Die Wartung hat den Zustand „abgeschlossen“. Möglich ist das nur in: geplant, läuft."
    )]
    #[case(StateConflict::IncidentResolved.into(), "Die Störung ist schon behoben.")]
    #[case(
        StateConflict::WindowLocked("cancelled").into(),
        "Die Wartung hat den Zustand „abgesagt“; ihr Zeitraum lässt sich hier nicht mehr ändern."
    )]
    #[case(
        StateConflict::CoverOver("expired").into(),
        "Die Anfrage hat den Zustand „abgelaufen“; nur eine offene lässt sich beantworten."
    )]
    #[case(
        StateConflict::MessageOvertaken.into(),
        "Eine spätere Nachricht zum selben Thema wurde schon zugestellt; diese käme in falscher Reihenfolge an."
    )]
    #[case(StateConflict::ServicePaused.into(), "Der Dienst ist angehalten; setzen Sie ihn zuerst fort.")]
    #[case(
        StateConflict::NotChecked.into(),
        "Kein Standort prüft diesen Dienst: Ihm fehlen Einstellungen, oder seine Art wird nicht geprüft."
    )]
    #[case(StateConflict::SeriesCancelled.into(), "Die Serie ist abgesagt; legen Sie eine neue an.")]
    #[case(
        StateConflict::Backup(RequestError::Running("2026-11-28".to_owned())).into(),
        "Die Sicherung „2026-11-28“ wird gerade angelegt; es wird nur eine auf einmal angelegt."
    )]
    #[case(quota(PlanQuota::Services), "Grenze des Tarifs für aktive Dienste: 5; vorhanden: 5.")]
    #[case(
        ApiError::VerifyCooldown(9),
        "Diese Domain wurde gerade erst geprüft. Versuchen Sie es in 9 Sekunden noch einmal."
    )]
    #[case(
        ApiError::CheckCooldown(1),
        "Dieser Dienst wurde gerade erst geprüft. Versuchen Sie es in einer Sekunde noch einmal."
    )]
    #[case(ApiError::NotFound, "The requested resource does not exist.")]
    fn a_refusal_is_said_in_german(#[case] error: ApiError, #[case] expected: &str) {
        assert_eq!(ConsoleTexts::of("de").of_refusal(&error), expected);
        assert_eq!(ConsoleTexts::of("en").of_refusal(&error), error.to_string());
    }

    #[rstest]
    fn every_quota_has_a_name(
        #[values(
            PlanQuota::ServicesTotal,
            PlanQuota::CustomDomains,
            PlanQuota::Statuspages,
            PlanQuota::Components,
            PlanQuota::IncidentPolicies,
            PlanQuota::AccessScopes,
            PlanQuota::MaintenanceSeries,
            PlanQuota::NotificationChannels,
            PlanQuota::SlaTargets,
            PlanQuota::EscalationPolicies,
            PlanQuota::Contacts,
            PlanQuota::OncallSchedules,
            PlanQuota::Subscribers
        )]
        refused: PlanQuota,
    ) {
        let text = ConsoleTexts::of("de").of_refusal(&quota(refused));
        assert!(text.starts_with("Grenze des Tarifs für ") && text.ends_with(": 5; vorhanden: 5."), "{text}");
    }

    #[rstest]
    fn every_other_refusal_has_a_translation(
        #[values(
            ApiError::Confined,
            FieldErrors::of("a", FieldRule::Max(5)).into(),
            ApiError::Shared("incident"),
            ApiError::Simulating(3),
            ApiError::TooManyTrials(3),
            ApiError::CheckCooldown(3),
            StateConflict::Backup(RequestError::NoFolder).into(),
            StateConflict::Backup(RequestError::NoTime).into()
        )]
        error: ApiError,
    ) {
        assert_ne!(ConsoleTexts::of("de").of_refusal(&error), error.to_string());
    }
}
