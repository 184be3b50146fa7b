//! Recently stored data of an engine node: request and answer.
//!
//! Results have the form of spools (`model::facts`), as text in the answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::announcer::stored::{After, Place, Recent};
use crate::id::Id;
use crate::model::facts::{self, Decoder, Fact};

/// The position up to which a node has received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceText {
    epoch: Id,
    number: u64,
}

/// The request of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterText {
    place: Option<PlaceText>,
    wants_results: bool,
}

/// The answer to the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentText {
    place: PlaceText,
    results: String,
    is_whole: bool,
    has_more: bool,
}

impl From<Place> for PlaceText {
    fn from(Place { epoch, number }: Place) -> Self {
        Self { epoch, number }
    }
}

impl From<PlaceText> for Place {
    fn from(PlaceText { epoch, number }: PlaceText) -> Self {
        Self { epoch, number }
    }
}

impl From<After> for AfterText {
    fn from(After { place, wants_results }: After) -> Self {
        Self { place: place.map(Into::into), wants_results }
    }
}

impl From<AfterText> for After {
    fn from(AfterText { place, wants_results }: AfterText) -> Self {
        Self { place: place.map(Into::into), wants_results }
    }
}

impl From<Recent> for RecentText {
    fn from(Recent { place, results, is_whole, has_more }: Recent) -> Self {
        let mut bytes = Vec::new();
        facts::encode(&results, &[], &mut bytes);
        Self { place: place.into(), results: BASE64.encode(bytes), is_whole, has_more }
    }
}

impl RecentText {
    /// Decodes the answer; `None` when its results cannot be read.
    pub(super) fn read(self) -> Option<Recent> {
        let Self { place, results, is_whole, has_more } = self;
        let bytes = BASE64.decode(results).ok()?;
        let mut results = Vec::new();
        let is_read = Decoder::default().read_whole(&bytes, |fact| match fact {
            Fact::Check(result) => {
                results.push(result);
                true
            }
            Fact::Change(_) => false,
        });
        is_read.then(|| Recent { place: place.into(), results, is_whole, has_more })
    }
}
