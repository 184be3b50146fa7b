//! Incidents, channels and messages for the tests of effects, and effects as text.

use serde_json::Map;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::access::{Organisation, Plan};
use crate::model::contact::Contact;
use crate::model::escalation::{EscalationAssignment, EscalationPolicy, EscalationStep};
use crate::model::incident::{
    AffectedService, Impact, Incident, IncidentKind, IncidentStatus, Severity, WholeIncident,
};
use crate::model::incident_effects::audience::{
    ChannelAudience, HeldBatch, IncidentAudience, WrittenMessage,
};
use crate::model::lifecycle_effect::{LifecycleEffect, MessageRetraction};
use crate::model::notification::change::{IncidentChange, ServiceGroup};
use crate::model::notification::digest::{DeliveryHold, HoldReason, RecentMessages};
use crate::model::notification::message::NotificationMessage;
use crate::model::notification::quiet_hours::QuietHours;
use crate::model::notification::routing::{ChannelRouting, ResourceReference, RoutedServices, RoutingKeys};
use crate::model::notification::{ChannelKind, NotificationChannel, NotificationEvent};
use crate::model::timeline_size::TimelineSize;
use crate::model::translated_text::TranslatedText;

/// A Friday at noon, UTC.
const NOON_MS: i64 = 1_763_726_400_000;

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_ms(NOON_MS + seconds * 1_000)
}

/// The settings of a channel.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) events: Vec<NotificationEvent>,
    pub(super) min_severity: Severity,
    pub(super) is_enabled: bool,
    pub(super) quiet: bool,
    pub(super) service: Option<i64>,
    /// The severity in the last message of the channel; only used if the severity of the incident rises.
    pub(super) notified_severity: Severity,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            events: NotificationEvent::USUAL.to_vec(),
            min_severity: Severity::Minor,
            is_enabled: true,
            quiet: false,
            service: None,
            notified_severity: Severity::Minor,
        }
    }
}

impl Setting {
    pub(super) fn from(min_severity: Severity) -> Self {
        Self { min_severity, ..Self::default() }
    }

    /// Settings with quiet hours all day, except for critical incidents.
    pub(super) fn quiet() -> Self {
        Self { quiet: true, ..Self::default() }
    }

    pub(super) fn off() -> Self {
        Self { is_enabled: false, ..Self::default() }
    }

    pub(super) fn about(service: i64) -> Self {
        Self { service: Some(service), ..Self::default() }
    }

    pub(super) fn only(events: &[NotificationEvent]) -> Self {
        Self { events: events.to_vec(), ..Self::default() }
    }

    pub(super) fn notified_severity(self, notified_severity: Severity) -> Self {
        Self { notified_severity, ..self }
    }

    pub(super) fn routing(&self) -> ChannelRouting {
        let named = |key| RoutedServices {
            tags: Vec::new(),
            services: vec![ResourceReference { key, id: Id::random() }],
        };
        let hours = "mon,tue,wed,thu,fri,sat,sun 00:00-24:00".parse().unwrap();
        let quiet = QuietHours { hours, zone: "UTC".parse().unwrap(), except_from: Severity::Critical };
        ChannelRouting {
            events: self.events.clone(),
            min_severity: self.min_severity,
            selection: self.service.map(named),
            quiet: self.quiet.then_some(quiet),
            digest_above: None,
        }
    }

    pub(super) fn into_channel(self, key: i64) -> NotificationChannel {
        NotificationChannel {
            key,
            id: Id::random(),
            organisation: 1,
            kind: ChannelKind::Webhook,
            name: "Hook".into(),
            is_enabled: self.is_enabled,
            settings: Map::new(),
            routing: self.routing(),
            created_at: at(0),
            updated_at: at(0),
        }
    }
}

pub(super) fn incident(severity: Severity) -> WholeIncident {
    WholeIncident {
        incident: Incident {
            key: 7,
            id: "rNSJxMbDTX2uHc08AiCqo".parse().unwrap(),
            organisation: 1,
            title: TranslatedText::single("en", "Shop is down"),
            kind: IncidentKind::Standard,
            status: IncidentStatus::Investigating,
            severity,
            is_published: false,
            started_at: at(90),
            resolved_at: None,
            sla_counts_as_downtime: false,
            created_by: None,
            acknowledgement: None,
            created_at: at(100),
            updated_at: at(100),
        },
        services: Vec::new(),
        others: 0,
        statuspages: Vec::new(),
        updates: Vec::new(),
        unread_updates: TimelineSize::default(),
        internal_updates: Vec::new(),
        automation: None,
    }
}

pub(super) fn affected(service: i64) -> AffectedService {
    AffectedService {
        service,
        id: format!("rNSJxMbDTX2uHc08Ai{service:03}").parse().unwrap(),
        name: format!("Service {service:03}"),
        impact: Some(Impact::MajorOutage),
        is_derived: true,
        added_at: at(90),
        recovered_at: None,
        evidence: None,
    }
}

pub(super) fn with_services(whole: WholeIncident, services: &[i64]) -> WholeIncident {
    WholeIncident { services: services.iter().map(|service| affected(*service)).collect(), ..whole }
}

/// A contact without quiet hours, or with quiet hours all day, except for critical incidents.
pub(super) fn contact(key: i64, is_quiet: bool) -> Contact {
    let setting = if is_quiet { Setting::quiet() } else { Setting::default() };
    Contact {
        key,
        id: Id::random(),
        organisation: 1,
        name: "Anna".into(),
        email: "anna@example.com".into(),
        zone: "UTC".parse().unwrap(),
        language: "en".into(),
        channels: vec![ResourceReference { key: 1, id: Id::random() }],
        quiet: setting.routing().quiet,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// Messages from texts such as `incident.service_joined@5 995 batch 1020`: event, key of the contact (optional), second at
/// which it was written, reason and end of the hold (optional).
pub(super) fn written(messages: &[&str]) -> Vec<WrittenMessage> {
    let message = |(key, text): (i64, &&str)| {
        let words: Vec<&str> = text.split(' ').collect();
        let hold = words
            .get(2)
            .map(|by| DeliveryHold { until: at(words[3].parse().unwrap()), by: by.parse().unwrap() });
        let (event, contact) = words[0].split_once('@').unwrap_or((words[0], ""));
        WrittenMessage {
            key,
            contact: contact.parse().ok(),
            event: event.parse().unwrap(),
            created_at: at(words[1].parse().unwrap()),
            hold,
            is_untouched: hold.is_some(),
        }
    };
    (1..).zip(messages).map(message).collect()
}

pub(super) fn organisation() -> Organisation {
    Organisation {
        key: 1,
        id: Id::random(),
        name: "Acme".into(),
        plan: Plan::Business,
        self_hosted: true,
        locales: vec!["en".into()],
        default_locale: "en".into(),
        created_at: at(0),
    }
}

/// An audience of one channel with this setting. Each held message names one service that has joined so far.
pub(super) fn audience(
    setting: Setting,
    written: Vec<WrittenMessage>,
    after: &WholeIncident,
) -> IncidentAudience {
    let mut audience = IncidentAudience {
        organisation: organisation(),
        channels: Vec::new(),
        contacts: Vec::new(),
        policies: Vec::new(),
        followed: None,
        concerned: concerned(after),
        pages: Vec::new(),
    };
    let held = |written: &WrittenMessage| {
        let joined = ServiceGroup::from_affected([&affected(900)]);
        let change = IncidentChange { joined, ..IncidentChange::default() };
        let message = NotificationMessage::of_incident(written.event, after, audience.sender(None), 0);
        HeldBatch { key: written.key, message: message.with_change(change) }
    };
    let batches = written.iter().filter(|written| written.hold.is_some()).map(held).collect();
    audience.channels = vec![ChannelAudience {
        recent: RecentMessages::default(),
        severities: written.iter().map(|written| (written.key, setting.notified_severity)).collect(),
        channel: setting.into_channel(1),
        written,
        batches,
    }];
    audience
}

pub(super) fn concerned(whole: &WholeIncident) -> RoutingKeys {
    let services = whole.services.iter().map(|affected| affected.service).collect();
    RoutingKeys { tags: Vec::new(), services }
}

pub(super) fn policy(position: i32, min_severity: Severity) -> EscalationPolicy {
    let step = EscalationStep {
        after_seconds: 0,
        channels: Vec::new(),
        contacts: Vec::new(),
        schedules: Vec::new(),
    };
    EscalationPolicy {
        key: i64::from(position),
        id: Id::random(),
        organisation: 1,
        position,
        name: "Night".into(),
        assignment: EscalationAssignment { min_severity, selection: None },
        steps: vec![step],
        repeat_after_seconds: None,
        created_at: at(0),
        updated_at: at(0),
    }
}

/// The change in a message as text: number of services that joined, number that recovered, and the previous severity.
pub(super) fn named(message: &NotificationMessage) -> String {
    let Some(facts) = message.incident() else { return String::new() };
    let count = |group: &Option<ServiceGroup>| group.as_ref().map(|group| group.count);
    let joined = count(&facts.change.joined).map(|count| format!(" +{count}"));
    let recovered = count(&facts.change.recovered).map(|count| format!(" -{count}"));
    let before = facts.change.previous_severity.map(|severity| format!(" was {severity}"));
    [joined, recovered, before].into_iter().flatten().collect()
}

fn held(hold: Option<DeliveryHold>) -> String {
    match hold {
        None => String::new(),
        Some(DeliveryHold { by: HoldReason::Batch, until }) => {
            format!(" until batch {}", until.ms_since(at(0)) / 1_000)
        }
        Some(DeliveryHold { by, .. }) => format!(" until {by}"),
    }
}

pub(super) fn describe(effects: &[LifecycleEffect]) -> Vec<String> {
    let words = |effect: &LifecycleEffect| match effect {
        LifecycleEffect::Enqueue(outgoing) => {
            let message = &outgoing.delivery.message;
            let contact = outgoing.delivery.contact.map(|contact| format!("@{contact}")).unwrap_or_default();
            format!("{}{contact}{}{}", message.event, named(message), held(outgoing.delivery.hold))
        }
        LifecycleEffect::ReplaceMessage(replaced) => {
            format!("replace {}{}", replaced.delivery, named(&replaced.message))
        }
        LifecycleEffect::Release(_) => "release".into(),
        LifecycleEffect::Retract(MessageRetraction::HeldSteps(_)) => "retract steps".into(),
        other => format!("{other:?}"),
    };
    effects.iter().map(words).collect()
}
