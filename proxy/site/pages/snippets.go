package pages

import (
	"slices"
	"strings"

	"sundry/upstreams/catalog"
)

// snippet is the template of a call in one programming language. The page's script fills
// it in as fill does, whenever the form changes. Its texts hold %url%, the address
// without a query; Each also holds %name% and %value%, or %pair%, of a parameter.
// Quote says how they are written.
type snippet struct {
	// Bare is the call without parameters.
	Bare string `json:"bare"`
	// Before, Each with Between, and After make the call with parameters.
	Before  string `json:"before"`
	Each    string `json:"each"`
	Between string `json:"between"`
	After   string `json:"after"`
	// Quote is shell, php, or json, whose literals JavaScript, Python and Go share.
	Quote string `json:"quote"`
}

// programming is a language in which calls are shown.
type programming struct {
	ID, Title string
	of        func(what shape, file string) snippet
}

func programmings() []programming {
	return []programming{
		{"curl", "curl", curlSnippet}, {"javascript", "JavaScript", javascriptSnippet}, {"python", "Python", pythonSnippet},
		{"go", "Go", goSnippet}, {"php", "PHP", phpSnippet},
	}
}

// pair is a parameter with its value, in the order of the query.
type pair struct{ Name, Value string }

// fill writes the call.
func (s *snippet) fill(url string, pairs []pair) string {
	quote := quotes()[s.Quote]
	whole := strings.NewReplacer("%url%", quote(url))
	if len(pairs) == 0 {
		return whole.Replace(s.Bare)
	}
	each := make([]string, len(pairs))
	for i, p := range pairs {
		each[i] = strings.NewReplacer("%name%", quote(p.Name), "%value%", quote(p.Value), "%pair%", quote(p.Name+"="+p.Value)).Replace(s.Each)
	}
	return whole.Replace(s.Before) + strings.Join(each, s.Between) + whole.Replace(s.After)
}

// quotes write a text as a literal, by the name in snippet.Quote.
func quotes() map[string]func(string) string {
	return map[string]func(string) string{
		"shell": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"php":   func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" },
		"json": func(s string) string {
			literal, _ := asJSON(s) // a text can be written
			return strings.TrimSuffix(literal, "\n")
		},
	}
}

// snippetsOf are the templates for an endpoint, by language and shape.
func snippetsOf(e *catalog.Endpoint) map[string]map[shape]snippet {
	all := map[string]map[shape]snippet{}
	for _, p := range programmings() {
		all[p.ID] = map[shape]snippet{}
		for _, row := range formRows(0, e) {
			all[p.ID][row.Shape] = p.of(row.Shape, e.Name+extension(e, row.Shape))
		}
	}
	return all
}

// extension is that of the file in which a picture of the endpoint is kept. What a declared
// host delivers is mostly JPEG, all else PNG.
func extension(e *catalog.Endpoint, what shape) string {
	if what == shapeSVG {
		return ".svg"
	}
	for _, s := range e.Sources() {
		if s.Kind.Host != nil {
			return ".jpg"
		}
	}
	return ".png"
}

func curlSnippet(what shape, file string) snippet {
	call, after := "curl -sS", ""
	switch what {
	case shapePicture, shapeSVG:
		after = " -o " + file
	case shapeRedirect:
		after = ` -o /dev/null -w '%{redirect_url}\n'`
	}
	return snippet{
		Bare: call + after + " %url%\n", Before: call + "G" + after + " %url% \\\n", Each: "  --data-urlencode %pair%", Between: " \\\n",
		After: "\n", Quote: "shell",
	}
}

func javascriptSnippet(what shape, _ string) snippet {
	read := `const response = await fetch(url);
if (!response.ok) throw new Error(await response.text());
`
	switch what {
	case shapeJSON:
		read = `const response = await fetch(url);
const answer = await response.json();
if (!response.ok) throw new Error(answer.message);
console.log(answer.data);
`
	case shapePicture, shapeSVG:
		read += "const picture = await response.blob();\nconsole.log(picture.type, picture.size);\n"
	case shapeRedirect, shapePage:
		read = "location.assign(url);\n"
	case shapeScript:
		read = "const script = document.createElement(\"script\");\nscript.src = url;\ndocument.body.append(script);\n"
	default:
		read += "console.log(await response.text());\n"
	}
	return snippet{
		Bare: "const url = new URL(%url%);\n" + read, Before: "const url = new URL(%url%);\nurl.search = new URLSearchParams({\n",
		Each: "  %name%: %value%,\n", After: "});\n" + read, Quote: "json",
	}
}

func pythonSnippet(what shape, file string) snippet {
	option, read := "", "response.raise_for_status()\nprint(response.text)\n"
	switch what {
	case shapeJSON:
		read = "answer = response.json()\nif response.status_code != 200:\n    raise SystemExit(answer[\"message\"])\nprint(answer[\"data\"])\n"
	case shapePicture, shapeSVG:
		read = "response.raise_for_status()\nwith open(\"" + file + "\", \"wb\") as picture:\n    picture.write(response.content)\n"
	case shapeRedirect:
		option, read = "    allow_redirects=False,\n", "print(response.headers[\"Location\"])\n"
	}
	end := "    timeout=30,\n" + option + ")\n" + read
	return snippet{
		Bare: "import requests\n\nresponse = requests.get(\n    %url%,\n" + end, Before: "import requests\n\nresponse = requests.get(\n    %url%,\n    params={\n",
		Each: "        %name%: %value%,\n", After: "    },\n" + end, Quote: "json",
	}
}

func goSnippet(what shape, file string) snippet {
	imports, get := []string{"fmt", "io", "log", "net/http"}, "http.Get"
	client, read := "", "	fmt.Printf(\"%s\\n\", body)\n"
	switch what {
	case shapeJSON:
		imports = append(imports, "encoding/json")
		read = "	var answer struct {\n		Message string\n		Data    json.RawMessage\n	}\n	if err := json.Unmarshal(body, &answer); err != nil {\n		log.Fatal(err)\n	}\n" +
			"	if response.StatusCode != http.StatusOK {\n		log.Fatal(answer.Message)\n	}\n	fmt.Printf(\"%s\\n\", answer.Data)\n"
	case shapePicture, shapeSVG:
		imports = append(imports[1:], "os")
		read = "	if err := os.WriteFile(\"" + file + "\", body, 0o644); err != nil {\n		log.Fatal(err)\n	}\n"
	case shapeRedirect:
		imports, get = slices.DeleteFunc(imports, func(s string) bool { return s == "io" }), "client.Get"
		client = "	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}\n"
	}
	if what != shapeRedirect {
		if what != shapeJSON {
			read = "	if response.StatusCode != http.StatusOK {\n		log.Fatalf(\"%s: %s\", response.Status, body)\n	}\n" + read
		}
		read = "	body, err := io.ReadAll(response.Body)\n	if err != nil {\n		log.Fatal(err)\n	}\n" + read
	} else {
		read = "	fmt.Println(response.Header.Get(\"Location\"))\n"
	}
	tail := "	if err != nil {\n		log.Fatal(err)\n	}\n	defer response.Body.Close()\n" + read + "}\n"
	return snippet{
		Bare:   goHead(imports) + client + "	response, err := " + get + "(%url%)\n" + tail,
		Before: goHead(append(imports, "net/url")) + client + "	query := url.Values{}\n",
		Each:   "	query.Set(%name%, %value%)\n", After: "	response, err := " + get + "(%url% + \"?\" + query.Encode())\n" + tail, Quote: "json",
	}
}

// goHead is what stands above the statements of a program.
func goHead(imports []string) string {
	sorted := slices.Sorted(slices.Values(imports))
	return "package main\n\nimport (\n	\"" + strings.Join(sorted, "\"\n	\"") + "\"\n)\n\nfunc main() {\n"
}

func phpSnippet(what shape, file string) snippet {
	read := "$context = stream_context_create(['http' => ['timeout' => 30, 'ignore_errors' => true]]);\n"
	switch what {
	case shapeJSON:
		read += "$answer = json_decode(file_get_contents($url, false, $context), true);\nif ($answer['code'] !== 200) {\n    exit($answer['message']);\n}\nprint_r($answer['data']);\n"
	case shapePicture, shapeSVG:
		read = "file_put_contents('" + file + "', file_get_contents($url));\n"
	case shapeRedirect:
		read = "$context = stream_context_create(['http' => ['timeout' => 30, 'follow_location' => 0]]);\necho get_headers($url, true, $context)['Location'];\n"
	default:
		read += "echo file_get_contents($url, false, $context);\n"
	}
	return snippet{
		Bare: "<?php\n$url = %url%;\n" + read, Before: "<?php\n$url = %url% . '?' . http_build_query([\n",
		Each: "    %name% => %value%,\n", After: "]);\n" + read, Quote: "php",
	}
}
