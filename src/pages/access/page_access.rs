//! Who may read a page, and the parts that all ways to prove it share.

use std::net::IpAddr;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::model::secret::SecretSealer;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::AccessType;
use crate::pages::access::access_form::{AccessForm, admitted};
use crate::pages::access::form_body::{FormRefusal, has_foreign_origin, read_field};
use crate::pages::access::page_pass::{AccessProof, PagePass};
use crate::pages::answer::after;
use crate::pages::heavy_tasks::HeavyTasks;
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::snapshot::PageSnapshot;
use crate::pages::visit::PageVisit;
use crate::pages::visitor_limiter::{CountedAttempt, VisitorLimit, VisitorLimiter, network_of};
use crate::store::Databases;
use crate::subscribers::access_mailer::AccessMailer;

const MINUTE: u64 = 60;
/// Wrong passwords of one client on one page.
const PASSWORDS: VisitorLimit = VisitorLimit { attempts: 10, window: Duration::from_secs(15 * MINUTE) };
/// Requests for a link of one client on one page. No answer tells anything, and a company shares an address.
const LINKS: VisitorLimit = VisitorLimit { attempts: 60, window: Duration::from_secs(15 * MINUTE) };
/// Mails with a link to one address of one page.
const MAILS: [VisitorLimit; 2] = [
    VisitorLimit { attempts: 1, window: Duration::from_secs(MINUTE) },
    VisitorLimit { attempts: 4, window: Duration::from_secs(15 * MINUTE) },
];

/// Counts the attempts to open pages. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AccessAttempts {
    pub(super) passwords: VisitorLimiter<PageClient>,
    pub(super) links: VisitorLimiter<PageClient>,
    /// By the key of the page and the hash of the address.
    mails: [VisitorLimiter<PageMailbox>; 2],
}

/// An e-mail address of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PageMailbox {
    /// Key of the page.
    page: i64,
    /// Hash of the address in lower case.
    address: [u8; 32],
}

impl Default for AccessAttempts {
    fn default() -> Self {
        Self {
            passwords: VisitorLimiter::new(PASSWORDS),
            links: VisitorLimiter::new(LINKS),
            mails: MAILS.map(VisitorLimiter::new),
        }
    }
}

impl AccessAttempts {
    /// Counts a mail to an address, which may be on the list or not; returns false if it has got enough.
    pub(super) fn admits_mail(&self, page: i64, address: &str) -> bool {
        let mailbox = PageMailbox { page, address: Sha256::digest(address).into() };
        let now = Instant::now();
        self.mails.iter().all(|limiter| limiter.begin(mailbox, now).is_ok())
    }
}

/// A client of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageClient {
    /// Key of the page.
    page: i64,
    /// Network of the client's address.
    network: IpAddr,
}

/// Decides who may read a page. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PageAccess {
    /// Signs the cookies of visitors; its key is that of the installation, so a cookie counts on every node.
    pub sealer: SecretSealer,
    /// Source of the wall time.
    pub clock: Clock,
    /// Attempts to open a page.
    pub attempts: AccessAttempts,
    /// Computes the hashes of passwords.
    pub hashing: HeavyTasks,
    /// The databases; the main one holds the links that were not used yet.
    pub databases: Databases,
    /// Sends links.
    pub mailer: AccessMailer,
}

impl PageAccess {
    /// Returns true if the visitor may read the page.
    pub(in crate::pages) fn admits(&self, page: &Statuspage, visit: &PageVisit) -> bool {
        let pass = PagePass { sealer: &self.sealer, page };
        page.access_type == AccessType::Public || pass.is_in(&visit.headers, self.clock.now())
    }

    /// Returns the answer for a visitor without access.
    pub(in crate::pages) fn refuse(&self, snapshot: &PageSnapshot, visit: &PageVisit) -> HttpResponse {
        form(snapshot, &texts(snapshot, visit), None).answer(StatusCode::UNAUTHORIZED)
    }

    /// Reads a field of a form that the visitor has sent from the page, and counts the attempt.
    ///
    /// # Errors
    /// The answer to a form that does not count.
    pub(super) async fn take_field(
        &self,
        snapshot: &PageSnapshot,
        visit: &PageVisit,
        name: &str,
        attempts: &VisitorLimiter<PageClient>,
    ) -> Result<(String, CountedAttempt<PageClient>), HttpResponse> {
        let texts = texts(snapshot, visit);
        let refused = |status| form(snapshot, &texts, None).answer(status);
        if has_foreign_origin(&visit.headers) {
            return Err(refused(StatusCode::FORBIDDEN));
        }
        let given = match read_field(&visit.headers, visit.form.take(), name).await {
            Ok(given) => given,
            Err(refusal) => return Err(refused(status_of(refusal))),
        };
        let client = PageClient { page: snapshot.page.key, network: network_of(visit.client) };
        match attempts.begin(client, Instant::now()) {
            Ok(counted) => Ok((given, counted)),
            Err(wait) => {
                let problem = texts.filled("too-many-tries", &[TextValue::number("minutes", minutes(wait))]);
                let answer = form(snapshot, &texts, Some(problem)).answer(StatusCode::TOO_MANY_REQUESTS);
                Err(after(answer, wait))
            }
        }
    }

    /// Returns the response for a visitor who may read the page now.
    pub(super) fn admit(&self, page: &Statuspage, visit: &PageVisit, proof: &AccessProof) -> HttpResponse {
        let pass = PagePass { sealer: &self.sealer, page };
        admitted(&pass.cookie(proof, self.clock.now(), visit.is_secure()))
    }
}

/// Returns the form with which a visitor can open the page.
pub(super) fn form<'a>(
    snapshot: &PageSnapshot,
    texts: &'a PageTexts,
    problem: Option<String>,
) -> AccessForm<'a> {
    match snapshot.page.access_type {
        AccessType::EmailWhitelist => AccessForm::address(texts, problem),
        AccessType::Public | AccessType::Password => AccessForm::password(texts, problem),
    }
}

/// Returns the form with a sentence about a problem, which is the text with this name.
pub(super) fn refusal(
    snapshot: &PageSnapshot,
    texts: &PageTexts,
    status: StatusCode,
    problem: &str,
) -> HttpResponse {
    form(snapshot, texts, Some(texts.text(problem))).answer(status)
}

/// Returns the texts in the visitor's language. It does not depend on the path, so that all paths have the same answer.
pub(super) fn texts(snapshot: &PageSnapshot, visit: &PageVisit) -> PageTexts {
    PageTexts::of(&visit.language(None, &snapshot.languages()).locale)
}

/// Returns the minutes to wait, rounded up.
fn minutes(wait: Duration) -> i64 {
    i64::try_from(wait.as_secs().div_ceil(MINUTE)).unwrap_or(i64::MAX).max(1)
}

const fn status_of(refusal: FormRefusal) -> StatusCode {
    match refusal {
        FormRefusal::Malformed => StatusCode::BAD_REQUEST,
        FormRefusal::NotAForm => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        FormRefusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FormRefusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
    }
}
