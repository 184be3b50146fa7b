//! Conversion between status pages and rows.

use sea_orm::ActiveValue::Set;
use serde_json::Value;
use watchkeeper_entities::statuspage::{ActiveModel, Model};

use crate::clock::Timestamp;
use crate::model::statuspage::seo::SeoSettings;
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::statuspage::{Statuspage, VisibleSections};
use crate::model::translated_text::TranslatedText;
use crate::store::error::MainError;

pub(super) fn to_row(page: &Statuspage) -> ActiveModel {
    let channels: Vec<&str> = page.subscriber_channels.iter().map(|channel| channel.as_str()).collect();
    ActiveModel {
        id: Set(page.key),
        public_id: Set(page.id.to_string()),
        organisation_id: Set(page.organisation),
        name: Set(page.name.to_json().to_string()),
        slug: Set(page.slug.clone()),
        is_published: Set(page.is_published),
        supported_locales: Set(page
            .supported_locales
            .as_ref()
            .map(|locales| Value::from(locales.clone()).to_string())),
        default_locale: Set(page.default_locale.clone()),
        primary_color: Set(page.primary_color.clone()),
        secondary_color: Set(page.secondary_color.clone()),
        custom_css: Set(page.custom_css.clone()),
        imprint_url: Set(page.imprint_url.clone()),
        privacy_policy_url: Set(page.privacy_policy_url.clone()),
        show_logo: Set(page.shows.logo),
        logo_size: Set(page.logo_size.as_str().into()),
        show_affected_services: Set(page.shows.affected_services),
        show_unlinked_services: Set(page.shows.unlinked_services),
        show_incident_history: Set(page.shows.incident_history),
        show_locations: Set(page.shows.locations),
        show_sla: Set(page.shows.sla),
        status_json_includes_hidden: Set(page.shows.hidden_in_json),
        seo: Set(page.seo.to_json().to_string()),
        access_type: Set(page.access_type.as_str().into()),
        password_hash: Set(page.password_hash.clone()),
        email_whitelist: Set(Value::from(page.email_whitelist.clone()).to_string()),
        appearance: Set(page.appearance.as_str().into()),
        allow_appearance_switch: Set(page.allows_appearance_switch),
        subscriber_channels: Set(Value::from(channels).to_string()),
        created_at: Set(page.created_at.ms()),
        updated_at: Set(page.updated_at.ms()),
    }
}

pub(super) fn from_row(row: Model) -> Result<Statuspage, MainError> {
    let key = row.id;
    let corrupt = |problem: &str| MainError::corrupt("statuspage", &key, &problem);
    let list = |stored: &str| serde_json::from_str::<Vec<String>>(stored).map_err(|_| corrupt("a list"));
    let channels: Option<Vec<SubscriberChannel>> =
        list(&row.subscriber_channels)?.iter().map(|word| word.parse().ok()).collect();
    Ok(Statuspage {
        key,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        name: TranslatedText::from_stored(&row.name).map_err(|_| corrupt("its name"))?,
        is_published: row.is_published,
        supported_locales: row.supported_locales.as_deref().map(list).transpose()?,
        shows: VisibleSections {
            logo: row.show_logo,
            affected_services: row.show_affected_services,
            unlinked_services: row.show_unlinked_services,
            incident_history: row.show_incident_history,
            locations: row.show_locations,
            sla: row.show_sla,
            hidden_in_json: row.status_json_includes_hidden,
        },
        logo_size: row.logo_size.parse().map_err(|_| corrupt("unknown logo size"))?,
        seo: SeoSettings::from_stored(&row.seo).map_err(|_| corrupt("its seo block"))?,
        access_type: row.access_type.parse().map_err(|_| corrupt("unknown access type"))?,
        email_whitelist: list(&row.email_whitelist)?,
        appearance: row.appearance.parse().map_err(|_| corrupt("unknown appearance"))?,
        allows_appearance_switch: row.allow_appearance_switch,
        subscriber_channels: channels.ok_or_else(|| corrupt("unknown channel"))?,
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
        slug: row.slug,
        default_locale: row.default_locale,
        primary_color: row.primary_color,
        secondary_color: row.secondary_color,
        custom_css: row.custom_css,
        imprint_url: row.imprint_url,
        privacy_policy_url: row.privacy_policy_url,
        password_hash: row.password_hash,
    })
}
