//! Recently stored data of an engine node: request and answer.
//!
//! Results have the form of spools (`model::fact_codec`), as text in the answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::model::fact_codec::{self, FactDecoder, RecordedFact};
use crate::service_router::recent_results::{ResultPosition, ResultsReply, ResultsRequest};

/// The position up to which a node has received data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionText {
    epoch: Id,
    number: u64,
}

/// The request of a node for recently stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterText {
    #[serde(rename = "place")]
    position: Option<PositionText>,
    wants_results: bool,
}

/// Recently stored data, as the answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentText {
    #[serde(rename = "place")]
    position: PositionText,
    results: String,
    is_whole: bool,
    has_more: bool,
}

impl From<ResultPosition> for PositionText {
    fn from(ResultPosition { epoch, number }: ResultPosition) -> Self {
        Self { epoch, number }
    }
}

impl From<PositionText> for ResultPosition {
    fn from(PositionText { epoch, number }: PositionText) -> Self {
        Self { epoch, number }
    }
}

impl From<ResultsRequest> for AfterText {
    fn from(ResultsRequest { position, wants_results }: ResultsRequest) -> Self {
        Self { position: position.map(Into::into), wants_results }
    }
}

impl From<AfterText> for ResultsRequest {
    fn from(AfterText { position, wants_results }: AfterText) -> Self {
        Self { position: position.map(Into::into), wants_results }
    }
}

impl From<ResultsReply> for RecentText {
    fn from(ResultsReply { position, results, is_whole, has_more }: ResultsReply) -> Self {
        let mut bytes = Vec::new();
        fact_codec::encode(&results, &[], &mut bytes);
        Self { position: position.into(), results: BASE64.encode(bytes), is_whole, has_more }
    }
}

impl RecentText {
    /// Decodes the answer; `None` when its results cannot be read.
    pub(super) fn read(self) -> Option<ResultsReply> {
        let Self { position, results, is_whole, has_more } = self;
        let bytes = BASE64.decode(results).ok()?;
        let mut results = Vec::new();
        let is_read = FactDecoder::default().read_whole(&bytes, |fact| match fact {
            RecordedFact::Check(result) => {
                results.push(result);
                true
            }
            RecordedFact::Change(_) => false,
        });
        is_read.then(|| ResultsReply { position: position.into(), results, is_whole, has_more })
    }
}
