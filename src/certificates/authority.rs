//! The certificate authority of this installation, and the account there: registered once, its key stored sealed.

use instant_acme::{Account, AccountCredentials, NewAccount};

use crate::certificates::acme_transport::AcmeTransport;
use crate::certificates::order::OrderFailure;
use crate::certificates::vault::CertificateVault;
use crate::clock::Clock;
use crate::egress::outbound::OutboundClient;
use crate::store::{Database, MainError, acme_accounts};

/// The certificate authority, as the settings name it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AcmeAuthority {
    /// Address of its directory.
    pub(super) directory_url: String,
    pub(super) transport: AcmeTransport,
    contact: Option<String>,
    clock: Clock,
}

impl AcmeAuthority {
    /// An authority that is reached by this client. `contact`: e-mail address for its messages. The operator has accepted its
    /// terms.
    #[must_use]
    pub fn new(
        directory_url: String,
        contact: Option<String>,
        outbound: OutboundClient,
        clock: Clock,
    ) -> Self {
        let transport = AcmeTransport::new(outbound, clock.clone());
        Self { directory_url, transport, contact, clock }
    }

    /// Opens the account, which is registered at the first use. Asks the authority for its directory.
    pub(super) async fn open_account(
        &self,
        main: &Database,
        vault: &CertificateVault,
    ) -> Result<Account, OrderFailure> {
        let builder = || Account::builder_with_http(Box::new(self.transport.clone()));
        if let Some(sealed) = acme_accounts::find(main.reader(), &self.directory_url).await? {
            let opened = vault.open_account(&self.directory_url, &sealed);
            let credentials = opened.map_err(|error| OrderFailure::of_account(&error))?;
            let credentials: AccountCredentials =
                serde_json::from_str(&credentials).map_err(|error| OrderFailure::of_account(&error))?;
            return Ok(builder().from_credentials(credentials).await?);
        }
        let contact = self.contact.as_ref().map(|address| format!("mailto:{address}"));
        let contact: Vec<&str> = contact.as_deref().into_iter().collect();
        let new =
            NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
        let (account, credentials) = builder().create(&new, self.directory_url.clone(), None).await?;
        let credentials =
            serde_json::to_string(&credentials).map_err(|error| OrderFailure::of_account(&error))?;
        let sealed = vault.seal_account(&self.directory_url, &credentials);
        let transaction = main.begin().await?;
        acme_accounts::put(&transaction, &self.directory_url, sealed, self.clock.now()).await?;
        transaction.commit().await?;
        tracing::info!(directory = self.directory_url, "registered at the certificate authority");
        Ok(account)
    }

    /// Forgets the account, so that the next use registers a new one.
    pub(super) async fn forget_account(&self, main: &Database) -> Result<(), MainError> {
        let transaction = main.begin().await?;
        acme_accounts::delete(&transaction, &self.directory_url).await?;
        transaction.commit().await
    }
}
