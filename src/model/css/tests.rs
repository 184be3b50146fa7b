//! Tests of sanitising: harmless style sheets stay, hostile ones are disarmed.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Harmless CSS stays byte for byte.
#[rstest]
#[case("body { color: #123456; }")]
#[case("/* a comment */ p { color: red } /* another */")]
#[case("a::after { content: \"\\201C\"; }")]
#[case(".a > .b + .c ~ d { margin: -1px; }")]
#[case("html { scroll-behavior: smooth; overscroll-behavior: contain; }")]
#[case(".behavior:hover { color: red }")]
#[case("a { background: url(https://cdn.example.com/a.png) }")]
#[case("a { background: URL( \"https://cdn.example.com/a(1).png\" ) }")]
#[case("a { background: url('HTTPS://cdn.example.com/a.png') }")]
#[case("a { background: url(data:image/png;base64,iVBORw0KGgo=) }")]
#[case("a { background: url(\"data:image/svg+xml,%3Csvg/%3E\") }")]
#[case("@media (min-width: 40em) { p { color: red } }")]
#[case("@font-face { font-family: x; src: url(https://x.example/f.woff2) }")]
#[case("@imported { }")]
#[case("p { font-family: \"Größe\", serif }\n\n/* Füße */")]
#[case("regular { expression: 1; urls: 2 }")]
#[case("p { color: \\72 ed }")]
fn harmless_rules_stay_as_they_are(#[case] sheet: &str) {
    assert_eq!(sanitise(sheet), sheet);
}

/// Each forbidden construct of contract 4.13.4.
#[rstest]
#[case("@import url(https://evil.example/x.css); p { color: red }", "p { color: red }")]
#[case("@import 'x;y.css' screen; p { color: red }", "p { color: red }")]
#[case("@IMPORT\"x\"", "")]
#[case("@import", "")]
#[case("@import 'x' } p { color: red }", "} p { color: red }")]
#[case("@charset \"utf-8\";p{}", "p{}")]
#[case("@namespace svg url(http://www.w3.org/2000/svg);p{}", "p{}")]
#[case("p { width: expression(alert(1)); color: red }", "p { width: ; color: red }")]
#[case("p { width: EXPRESSION ( alert(1) ) }", "p { width:  }")]
#[case("p { width: expression(alert(1); color: red }", "p { width: ; color: red }")]
#[case("p { width: expression(", "p { width:")]
#[case("p { behavior: url(x.htc); color: red }", "p {  color: red }")]
#[case("p{BEHAVIOR:url(#default#time2)}", "p{}")]
#[case("p { -ms-behavior : url(x.htc) }", "p { }")]
#[case("p { -moz-binding: url(http://x/xbl.xml#a); }", "p {  }")]
#[case("a { background: url(http://evil.example/a.png) }", "a { background:  }")]
#[case("a { background: url(//evil.example/a.png) }", "a { background:  }")]
#[case("a { background: url(/a.png), url(https://x/b) }", "a { background: , url(https://x/b) }")]
#[case("a { background: url(javascript:alert(1)) }", "a { background: ) }")]
#[case("a { background: url(\"javascript:alert(1)\") }", "a { background:  }")]
#[case("a { background: url( ' javascript:alert(1)' ) }", "a { background:  }")]
#[case("a { background: url(data:text/html;base64,PHNjcmlwdD4=) }", "a { background:  }")]
#[case("a { background: url(data:image/svgxml,x) }", "a { background:  }")]
#[case("a { background: url(data:image/pngx;base64,x) }", "a { background:  }")]
#[case("a { background: url() }", "a { background:  }")]
#[case("a { background: url(", "a { background:")]
#[case("a { background: url(\"http://x", "a { background:")]
#[case("a { background: url(#f) }", "a { background:  }")]
#[case("p{} </style><script>alert(1)</script>", "p{} /style>script>alert(1)/script>")]
#[case("<!-- p{} -->", "!-- p{} -->")]
fn forbidden_constructs_are_removed(#[case] sheet: &str, #[case] remaining: &str) {
    assert_eq!(sanitise(sheet), remaining);
}

/// Forbidden constructs that are disguised by escapes or comments, or that a cut would join (contract 4.13.4).
#[rstest]
#[case(r"@\69mport 'x';p{}", "p{}")]
#[case(r"@\000069 mport 'x';p{}", "p{}")]
#[case(r"\40 import 'x';p{}", "p{}")]
#[case(r"@i\mport 'x';p{}", "p{}")]
#[case("@im\\\nport 'x';p{}", "p{}")]
#[case("@im/**/port 'x';p{}", "p{}")]
#[case("a{b:\"/*\"} @im/**/port 'x';p{}", "a{b:\"/*\"} p{}")]
#[case(r"p{width:e\78pression(1)}", "p{width:}")]
#[case("p{width:exp/* */ression/**/(1)}", "p{width:}")]
#[case(r"p{b\65havior:url(x)}", "p{}")]
#[case(r"p{\2d moz-binding:url(x)}", "p{}")]
#[case("p{behavior/**/ :url(x)}", "p{}")]
#[case(r"a{background:u\72l(http://x)}", "a{background:}")]
#[case(r"a{background:\75\72\6c(http://x)}", "a{background:}")]
#[case(r"a{background:url\28http://x)}", "a{background:}")]
#[case(r"a{background:url(\6a avascript:x)}", "a{background:}")]
#[case(r"a{background:url('\68ttp://x')}", "a{background:}")]
#[case(r"a{background:url(\68ttps://x/y)}", r"a{background:url(\68ttps://x/y)}")]
#[case(r#"a{content:"\3c script"}"#, r#"a{content:"script"}"#)]
#[case("@imp<ort 'x';p{}", "p{}")]
#[case("@imp@import;ort 'x';p{}", "p{}")]
#[case("p{width:expr<ession(1)}", "p{width:}")]
#[case("p{width:expexpression(1)ression(1)}", "p{width:}")]
#[case("a{background:ur<l(http://x)}", "a{background:}")]
#[case("\\<75rl(http://x)", "75rl(http://x)")]
fn disguised_constructs_are_removed(#[case] sheet: &str, #[case] remaining: &str) {
    assert_eq!(sanitise(sheet), remaining);
}

#[test]
fn an_overly_complex_sheet_is_dropped() {
    let depth = 500;
    let sheet = format!("{}expression(1){}", "exp".repeat(depth), "ression(1)".repeat(depth));
    assert_eq!(sanitise(&sheet), "");
}

proptest! {
    #[test]
    fn sanitising_is_idempotent(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "@import", "url(", "expression(", "behavior", ":", ")", "<", "\\", "\"", "'", "/*", "*/", ";", "{", "}",
                "\\75", "rl(", "exp", "ression", " ", "http://x", "https://x", "\n", "a", "-moz-binding", "\\3c ", "@", "ü",
            ]),
            0..40,
        )
    ) {
        let once = sanitise(&pieces.concat());
        prop_assert!(!once.contains('<'));
        prop_assert_eq!(sanitise(&once), once);
    }
}
