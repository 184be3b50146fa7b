//! Requests below `/console`, which are passed on to the console.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};

use crate::http::console_entry::{ConsoleRequest, InnerApi};
use crate::http::public_paths::front::ServerState;

/// Passes a request on to the console.
pub(in crate::http) async fn serve_console(
    front: web::Data<ServerState>,
    request: HttpRequest,
    payload: web::Payload,
) -> HttpResponse {
    let client = front.gate.client_address(&request);
    let api = InnerApi { gate: Arc::clone(&front.gate), state: Arc::clone(&front.state) };
    (front.console)(ConsoleRequest { request, body: payload.into_inner(), client, api }).await
}
