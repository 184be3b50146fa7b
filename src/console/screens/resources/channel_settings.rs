//! The fields of a channel's settings. They are those of the catalogue that `/v1/meta/channel-types` shows.

use std::sync::LazyLock;

use crate::console::screens::resources::spec::{FieldCatalogue, FieldKind, FieldSpec, FieldTime};
use crate::model::notification::ChannelKind;
use crate::notify::kinds::{ChannelField, FieldShape, definition};

/// The settings of all kinds.
static SETTINGS: LazyLock<Vec<KindSettings>> = LazyLock::new(|| {
    let settings = |kind| {
        let fields: Vec<FieldSpec> =
            definition(kind).fields.iter().map(|setting| field(kind, setting)).collect();
        KindSettings { kind, new: fields.iter().map(|spec| of_new_channel(kind, spec)).collect(), fields }
    };
    ChannelKind::ALL.into_iter().map(settings).collect()
});

/// The settings of a kind.
struct KindSettings {
    kind: ChannelKind,
    fields: Vec<FieldSpec>,
    /// Those of a new channel.
    new: Vec<FieldSpec>,
}

/// Returns the fields of a form, with those of the settings of this kind of channel.
pub(super) fn with_settings(
    fields: &[FieldSpec],
    kind: Option<ChannelKind>,
    time: FieldTime,
) -> Vec<FieldSpec> {
    let found = SETTINGS.iter().find(|settings| Some(settings.kind) == kind);
    let of_time = |settings: &'static KindSettings| {
        if time == FieldTime::Creation { &settings.new } else { &settings.fields }
    };
    let inner = found.map(|settings| of_time(settings).as_slice()).unwrap_or_default();
    let resolved = |spec: &FieldSpec| match spec.kind {
        FieldKind::ChannelSettings => FieldSpec { kind: FieldKind::Settings(inner), ..*spec },
        _ => *spec,
    };
    fields.iter().map(resolved).collect()
}

/// Returns the field of a new channel: the signing secret of a webhook is drawn if none is entered.
fn of_new_channel(kind: ChannelKind, spec: &FieldSpec) -> FieldSpec {
    if kind == ChannelKind::Webhook && spec.name == "secret" {
        FieldSpec { is_required: false, catalogue: None, ..*spec }
    } else {
        *spec
    }
}

fn field(channel: ChannelKind, setting: &ChannelField) -> FieldSpec {
    let (kind, preset) = match setting.shape {
        FieldShape::Headers { .. } => (FieldKind::SecretPairs, ""),
        _ if setting.is_secret => (FieldKind::Secret, ""),
        FieldShape::Url | FieldShape::Text { .. } => (FieldKind::Text, ""),
        FieldShape::Template { .. } => (FieldKind::Long, ""),
        FieldShape::List { .. } => (FieldKind::Lines, ""),
        FieldShape::Number { .. } => (FieldKind::Number, ""),
        FieldShape::Select { options, default } => (FieldKind::Word(options), default),
    };
    FieldSpec {
        name: setting.name,
        kind,
        is_required: setting.is_required,
        when: FieldTime::Always,
        label: setting.label,
        help: setting.help,
        preset,
        is_ordered: false,
        catalogue: Some(FieldCatalogue::Channel(channel)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::screens::resources::spec::needed;

    /// Everything that is secret is entered into a field that is not shown again.
    #[test]
    fn secrets_are_not_shown() {
        let times = [FieldTime::Creation, FieldTime::Change];
        for (kind, time) in ChannelKind::ALL.into_iter().flat_map(|kind| times.map(|time| (kind, time))) {
            let fields = with_settings(&[needed("settings", FieldKind::ChannelSettings)], Some(kind), time);
            for (spec, setting) in fields[0].inner().iter().zip(definition(kind).fields) {
                let is_hidden = matches!(spec.kind, FieldKind::Secret | FieldKind::SecretPairs);
                assert_eq!(is_hidden, setting.is_secret, "{kind} {}", setting.name);
            }
        }
    }
}
