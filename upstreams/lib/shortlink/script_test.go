package shortlink

import (
	"slices"
	"testing"
)

func TestAssignments(t *testing.T) {
	for in, want := range map[string][]string{
		`location.replace("https:\/\/a.example\/")`:          {"https://a.example/"},
		`window.location.href='/x?a=1\u0026b\x3d2'`:          {"/x?a=1&b=2"},
		`self . location = "x";`:                             {"x"},
		`window.top.location.assign( "x" )`:                  {"x"},
		`document.location="a\"b"`:                           {`a"b`},
		`location.href = "x" + id`:                           nil,
		`location.href = "x".concat(y)`:                      nil,
		`location.href = x`:                                  nil,
		`location.href == "x"`:                               nil,
		`if (location.href != "x") y()`:                      nil,
		`user.location = "Paris"`:                            nil,
		`geolocation = "x"`:                                  nil,
		`location.href = "#top"`:                             nil,
		`location.href = ""`:                                 nil,
		"location.href = \"a\nb\"":                           nil,
		`location.replace("x" ? a : b)`:                      nil,
		`setTimeout("x",1);location='y';window.location="z"`: {"y", "z"},
		`location.href="\ud83d\ude00"`:                       {"\ufffd\ufffd"},
	} {
		if got, _ := readScripts([]string{in}).redirects(); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}

// TestScriptsThatRedirect: simple redirects that run when the page is opened.
func TestScriptsThatRedirect(t *testing.T) {
	for _, in := range []string{
		`location.href="/y"`, "location.href=`/y`", `var u="/y"; location.href=u`, "const u = `/y`\nlocation = u",
		`location.replace(decodeURIComponent("%2Fy"))`, `let u=decodeURIComponent('%2Fy');window.location.href=u;`,
		`var u='%2Fy';location.href=decodeURIComponent(u)`,
		`window.onload=function(){location.href="/y"}`, `onload=()=>{location.href="/y"}`, `window.onload = () => location.href = "/y"`,
		`function go(){location.href="/y"} window.onload=go`, `function go(){location.href="/y"} go()`,
		`window.addEventListener("load", function () { location.href = "/y" })`, `document.addEventListener('DOMContentLoaded', () => { location.href = '/y' }, false)`,
		`(function(){location.href="/y"})()`, `!function(){location.href="/y"}()`, `(()=>{location.href="/y"})()`, `(function(){location.href="/y"}).call(this)`, `(function(){location.href="/y"}())`,
		`setTimeout(function(){location.href="/y"},3000)`, `setTimeout(()=>location.href="/y",0)`, `setTimeout("location.href='/y'", 3000)`, `setTimeout("javascript:location.href='/y'", 1)`,
		`function go(){location.href="/y"} setTimeout(go, 10)`, `function go(){location.href="/y"} setTimeout("go()", 10)`,
		`$(function(){location.href="/y"})`, `$(document).ready(function(){location.href="/y"})`, `var go=function(){location.href="/y"};go();`,
		`location["href"]="/y"`,
		"<!-- old browsers\nlocation.href=\"/y\"\n// -->", "/* a */ location.href=/* b */\"/y\" // c",
		`var r=/["'\/]/g, s="// no", d=4/2; location.href="/y"`, "a = b\n/c/g\nlocation.href='/y'", `try{location.href="/y"}catch(e){}`,
		`if(a){b()} location.href="/y"`, "if (a) b()\nlocation.href='/y'", `a && b(); location.href="/y"`, `var x = a ? "1" : "2"; location.href="/y"`,
		"x = `a${b ? `}` : \"`\"}c`; location.href='/y'", `if (/[/"]/.test(a)) b(); location.href="/y"`,
		`// location.href="/no"` + "\n" + `location.href="/y"`, `if(top!=self)top.location=self.location; location.href="/y"`,
		`async function go(){location.href="/y"} go()`, `var o={go(){location.href="/y"}}; o.go()`,
		`function f(){return /}/} location.href="/y"`, `var u = "https://a.example/x"; var t = "//"; location.href="/y"`,
	} {
		if got, _ := readScripts([]string{in}).redirects(); !slices.Equal(got, []string{"/y"}) {
			t.Errorf("%s: %q", in, got)
		}
	}
}

// TestScriptsThatDoNotRedirect: comments, texts, and functions that nothing calls.
func TestScriptsThatDoNotRedirect(t *testing.T) {
	for _, in := range []string{
		``, `// location.href="/y"`, `/* location.href="/y" */`, "<!-- location.href='/y'", `var s="location.href='/y'"`, "s = `location.href='/y'`", `r = /location.href="\/y"/`,
		`function go(){location.href="/login"}`, `function go(){location.href="/login"} function other(){go()}`, `var go=()=>{location.href="/y"}`, `const go = () => location.href = "/y"`,
		`button.onclick=function(){location.href="/y"}`, `b.addEventListener("click", function(){location.href="/y"})`, `$("#a").on("click", ()=>{location.href="/y"})`, `$("#a").click(function(){location.href="/y"})`,
		`function go(){location.href="/y"} b.onclick=go`, `function go(u){location.href=u}`, `var o={go(){location.href="/y"}, to:function(){location.replace(u)}}`,
		`class A { go() { location.href = "/y" } }`, `var u = location.href; if (location.hash) x(location.search)`, `user.location = "Paris"`,
		`function go() { if (a) { location.href = x } }`, `new Map().set("location", "x")`, `location.hash = "top"`,
	} {
		if got, unsure := readScripts([]string{in}).redirects(); got != nil || unsure {
			t.Errorf("%s: %q %v", in, got, unsure)
		}
	}
}

// TestScriptsThatMayRedirect: all others are not followed, and leave it open.
func TestScriptsThatMayRedirect(t *testing.T) {
	for _, in := range []string{
		`location.href = "x" + id`, `location.href = u`, "location.href = `/y${id}`", `location.replace(next())`, `location.href = decodeURIComponent(a + b)`, `location.href = decodeURIComponent("%zz")`,
		`if (a) location.href="/y"`, `if (a) { location.href="/y" } else { location.href="/z" }`, `a && (location.href="/y")`, `a ? location.href="/y" : b()`, `for(;;){location.href="/y"}`,
		`var u="/a"; u="/b"; location.href=u`, `var u="/a"; u+="b"; location.href=u`, `var u="/a"; function f(u){location.href=u} f(1)`, `(u=>{location.href=u})("/a")`,
		`if (!a) return; location.href="/y"`, `fetch("/a").then(function(r){location.href="/y"})`, `if(a) go(); function go(){location.href="/y"}`,
		`document.cookie="a=1";location.reload()`, `location.search="?a=1"`, `document.forms[0].submit()`, `eval(a)`, `switch(a){case 1: location.href="/y"}`,
		`else location.href="/y"`, `if (a)` + "\n" + `location.href="/y"`, `atob(location.href=atob("aaa"))`, `while(a) location.href="/y"`,
	} {
		if got, unsure := readScripts([]string{in}).redirects(); got != nil || !unsure {
			t.Errorf("%s: %q %v", in, got, unsure)
		}
	}
}

// TestScriptsAsAnswers: a page that may redirect is not final, one with a button is.
func TestScriptsAsAnswers(t *testing.T) {
	for in, want := range map[string]Result{
		`<script>function go(){location.href="/login"}</script><button onclick="go()">`: {Long: "https://a.example/", Final: true},
		`<script>// location.href="/y"</script>`:                                        {Long: "https://a.example/", Final: true},
		`<script type="application/json">location.href="/y"</script>`:                   {Long: "https://a.example/", Final: true},
		`<script>location.href=a+b</script>`:                                            {Long: "https://a.example/"},
		`<script>function go(){location.href="/y"}</script><body onload="go()">`:        {Long: "https://a.example/y", Final: true},
		`<body onload="location.href='/y'">`:                                            {Long: "https://a.example/y", Final: true},
		"<script>location.href=`/y`</script>":                                           {Long: "https://a.example/y", Final: true},
		`<script>var a={;</script><script>location.href="/y"</script>`:                  {Long: "https://a.example/y", Final: true},
	} {
		w := newWeb(t, pages{"https://a.example/": page(in), "https://a.example/y": page("")})
		r := resolverOf(w)
		got, err := r.Resolve(t.Context(), "https://a.example/")
		if err != nil || got.Long != want.Long || got.Final != want.Final {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
}
