//! Lookup of ids: only rows of the organisation are found, whatever else exists.

use std::collections::HashMap;

use rstest::rstest;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set};
use watchkeeper::id::Id;
use watchkeeper::model::service::NamedService;
use watchkeeper::model::translated_text::TranslatedText;
use watchkeeper::model::visibility::Visibility;
use watchkeeper::store::id_lookup::{self, LinkedPage};
use watchkeeper_entities::statuspage;

use crate::support::Backend;
use crate::support::backend::Store;
use crate::support::rows::{service, stored_organisation, stored_service};

/// Stores a status page of the organisation.
pub(crate) async fn stored_page(store: &Store, organisation: i64, name: &str) -> LinkedPage {
    let (id, name) = (Id::random(), TranslatedText::single("en", name));
    let row = statuspage::ActiveModel {
        public_id: Set(id.to_string()),
        organisation_id: Set(organisation),
        name: Set(name.to_json().to_string()),
        slug: Set(id.to_string().to_lowercase()),
        is_published: Set(false),
        show_logo: Set(true),
        logo_size: Set("medium".into()),
        show_affected_services: Set(true),
        show_unlinked_services: Set(false),
        show_incident_history: Set(true),
        show_locations: Set(false),
        show_sla: Set(false),
        status_json_includes_hidden: Set(false),
        seo: Set("{}".into()),
        access_type: Set("public".into()),
        email_whitelist: Set("[]".into()),
        appearance: Set("system".into()),
        allow_appearance_switch: Set(true),
        subscriber_channels: Set("[]".into()),
        created_at: Set(1),
        updated_at: Set(1),
        ..Default::default()
    };
    let transaction = store.main.begin().await.unwrap();
    let key = row.insert(&transaction).await.unwrap().id;
    transaction.commit().await.unwrap();
    LinkedPage { key, id, name }
}

#[rstest]
#[tokio::test]
async fn only_rows_of_the_organisation_are_found(
    #[values(Backend::Sqlite, Backend::Postgres)] backend: Backend,
) {
    let Some(store) = backend.open().await else { return };
    let (owner, other) =
        (stored_organisation(&store, "owner").await, stored_organisation(&store, "other").await);
    let shop = stored_service(&store, service(owner.key, "shop")).await;
    let foreign = stored_service(&store, service(other.key, "foreign")).await;
    let page = stored_page(&store, owner.key, "Status").await;
    let foreign_page = stored_page(&store, other.key, "Foreign").await;
    let ids = [shop.id, foreign.id, page.id, foreign_page.id, Id::random()];

    let transaction = store.main.begin().await.unwrap();
    let keys = id_lookup::services_by_id(&transaction, Visibility::whole(owner.key), &ids).await.unwrap();
    assert_eq!(keys, HashMap::from([(shop.id, shop.key)]));
    let services =
        id_lookup::services_to_link(&transaction, Visibility::whole(owner.key), &ids).await.unwrap();
    let expected = NamedService { key: shop.key, id: shop.id, name: "shop".into() };
    assert_eq!(services, HashMap::from([(shop.id, expected)]));

    let pages =
        id_lookup::statuspages_to_link(&transaction, Visibility::whole(owner.key), &ids).await.unwrap();
    assert_eq!(pages, HashMap::from([(page.id, page)]));
    assert!(
        id_lookup::services_to_link(&transaction, Visibility::whole(owner.key), &[])
            .await
            .unwrap()
            .is_empty()
    );
}
