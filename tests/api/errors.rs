//! Error bodies byte for byte (contract 5.1, 5.3): `message`, what belongs to the status, `request_id`, nothing else.
//!
//! The causes of each of them are tested in the file of its noun.

use rstest::rstest;

use crate::support::server::Server;

#[rstest]
#[case(
    "POST",
    "/v1/services",
    "{",
    400,
    r#"{"message":"The request body is not valid JSON.","request_id":"REQUEST"}"#
)]
#[case(
    "POST",
    "/v1/services",
    "[]",
    400,
    r#"{"message":"The request body must be a JSON object.","request_id":"REQUEST"}"#
)]
#[case(
    "GET",
    "/v1/nowhere",
    "",
    404,
    r#"{"message":"The requested resource does not exist.","request_id":"REQUEST"}"#
)]
#[case(
    "GET",
    "/nowhere",
    "",
    404,
    r#"{"message":"The requested resource does not exist.","request_id":"REQUEST"}"#
)]
#[case(
    "PUT",
    "/v1/services",
    "",
    405,
    r#"{"message":"This method is not allowed here. Allowed: GET, HEAD, POST.","request_id":"REQUEST"}"#
)]
#[case("POST", "/v1/services", r#"{"name":"x"}"#, 422, r#"{"message":"This field is required.","errors":{"check_type":["This field is required."]},"request_id":"REQUEST"}"#)]
#[case("POST", "/v1/services", "{}", 422, r#"{"message":"This field is required. (and 1 more error)","errors":{"name":["This field is required."],"check_type":["This field is required."]},"request_id":"REQUEST"}"#)]
fn an_error_body_has_the_fields_of_the_contract(
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] status: u16,
    #[case] expected: &str,
) {
    let answer = Server::shared_client().send(method, path, &[], body.as_bytes());
    assert_eq!(answer.without_request_id(), (status, expected.to_owned()));
    let retries = answer.header("retry-after");
    assert_eq!(retries, None, "nothing here is worth repeating");
}
