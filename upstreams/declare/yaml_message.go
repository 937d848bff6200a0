package declare

import (
	"fmt"
	"regexp"
	"strings"
)

// The messages of the YAML library that name types of this program.
var (
	unknownKey  = regexp.MustCompile(`^field (.+) not found in type .+$`)
	wrongType   = regexp.MustCompile("^cannot construct !!\\w+ `(.*)` into (\\S+)$")
	wrongNested = regexp.MustCompile(`^cannot construct !!(map|seq) into (.+)$`)
)

// yamlMessage says in the words of YAML what the library says in those of Go.
func yamlMessage(text string) string {
	if m := unknownKey.FindStringSubmatch(text); m != nil {
		return "unknown key " + m[1]
	}
	if m := wrongType.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("%q: expected %s", m[1], expected(m[2]))
	}
	if m := wrongNested.FindStringSubmatch(text); m != nil {
		given := map[string]string{"map": "a mapping", "seq": "a list"}[m[1]]
		return fmt.Sprintf("expected %s, got %s", expected(m[2]), given)
	}
	return text
}

// expected names what a file must have where a Go type is decoded.
func expected(goType string) string {
	switch goType = strings.TrimLeft(goType, "*"); {
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "string":
		return "a string"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "a mapping"
}
