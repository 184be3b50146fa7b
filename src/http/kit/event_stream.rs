//! A streamed response body, for server-sent events.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::stream::{LocalBoxStream, Stream, StreamExt as _};

type Chunks = LocalBoxStream<'static, Result<Bytes, Infallible>>;

/// A streamed body. It can be taken once.
#[derive(Clone)]
pub struct EventStream(Rc<RefCell<Option<Chunks>>>);

impl EventStream {
    /// Creates a body of these chunks.
    #[must_use]
    pub fn new(chunks: impl Stream<Item = Bytes> + 'static) -> Self {
        Self(Rc::new(RefCell::new(Some(chunks.map(Ok).boxed_local()))))
    }

    /// Takes the chunks; `None` if they were taken before.
    #[must_use]
    pub fn take(&self) -> Option<Chunks> {
        self.0.borrow_mut().take()
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EventStream(..)")
    }
}

impl PartialEq for EventStream {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}
