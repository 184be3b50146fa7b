//! Tests which routes a table finds, and which tables are refused.

use actix_web::http::Method;
use rstest::rstest;

use super::*;

const VIEW: AccessRule = AccessRule::needs(&[Permission::ServicesView]);

async fn nothing<T>(_: ApiCall<()>) -> Result<T, ApiError> {
    Err(ApiError::NotFound)
}

fn table() -> RouteTable<()> {
    let table = RouteTable::new([
        ApiRoute::get("/v1/tags/{id}", VIEW, nothing),
        ApiRoute::update("/v1/tags/{id}", VIEW, nothing),
        ApiRoute::delete("/v1/tags/{id}", VIEW, nothing),
        ApiRoute::post("/v1/tags/ensure", VIEW, nothing),
        ApiRoute::post("/v1/tags", VIEW, nothing),
        ApiRoute::get("/v1/tags", VIEW, nothing),
    ]);
    table.unwrap()
}

#[rstest]
#[case("/v1/tags", Some("GET, HEAD, POST"))]
#[case("/v1/tags/", Some("GET, HEAD, POST"))]
#[case("/v1/tags/a", Some("GET, HEAD, PUT, PATCH, DELETE"))]
#[case("/v1/tags/ensure", Some("POST"))]
#[case("/v1/tags/a/b", None)]
#[case("/v1", None)]
fn a_path_has_the_methods_of_its_most_exact_pattern(#[case] path: &str, #[case] allow: Option<&str>) {
    let table = table();
    let found = table.find(&RequestPath::parse(path));
    assert_eq!(found.map(|(resource, _)| resource.allow()).as_deref(), allow);
}

#[test]
fn a_route_without_permission_or_twice_does_not_start() {
    let open = RouteTable::new([ApiRoute::post("/v1/tags", AccessRule::needs(&[]), nothing)]);
    let (method, path) = ("POST", "/v1/tags");
    assert_eq!(open.err(), Some(RouteTableError::Open { method, path }));
    let twice = RouteTable::new([ApiRoute::post(path, VIEW, nothing), ApiRoute::post(path, VIEW, nothing)]);
    assert_eq!(twice.err(), Some(RouteTableError::Twice { method, path }));
    assert!(RouteTable::new([ApiRoute::get("/v1/me", AccessRule::any_token(), nothing)]).is_ok());
}

#[test]
fn methods_without_a_route_have_no_verb() {
    assert_eq!(HttpVerb::of(&Method::PATCH), Some(HttpVerb::Patch));
    assert_eq!(HttpVerb::of(&Method::TRACE), None);
    assert_eq!(HttpVerb::of(&Method::from_bytes(b"get").unwrap()), None);
}
