package admin

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"sundry/proxy/live"
)

// operatorHeader names who makes a request, for the audit log, as percent-encoded
// UTF-8: headers hold no other scripts.
const operatorHeader = "X-Sundry-Operator"

// maxOperatorName bounds the name of an operator, in characters.
const maxOperatorName = 40

// reservedNames stand in the audit log for what no operator did.
var reservedNames = [...]string{live.ByAutopilot, live.BySundry}

// operator returns who makes a request: the name in its header, or the user of HTTP
// Basic authentication. Without either it is the address, without the port, which says
// nothing. Names are what their owners claim: the token is the same for all.
func operator(r *http.Request) (string, error) {
	name, err := url.PathUnescape(r.Header.Get(operatorHeader))
	if err != nil {
		return "", fieldError("operator", "%s: expected percent-encoded UTF-8", "%s：应为百分号编码的 UTF-8", operatorHeader)
	}
	if user, _, ok := r.BasicAuth(); ok && name == "" {
		name = user
	}
	if name = strings.TrimSpace(name); name == "" {
		return unnamed(r), nil
	}
	return name, checkOperatorName(name)
}

// checkOperatorName refuses what could not be read in the audit log, or be taken for
// something else there.
func checkOperatorName(name string) error {
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fieldError("operator", "name of the operator: expected printable characters", "运维的名字：只能有可显示的字符")
	case utf8.RuneCountInString(name) > maxOperatorName:
		return fieldError("operator", "name of the operator: expected at most %d characters", "运维的名字：最多 %d 个字符", maxOperatorName)
	}
	for _, reserved := range reservedNames {
		if strings.EqualFold(name, reserved) {
			return fieldError("operator", "name of the operator: %q stands for what no operator did", "运维的名字：不能是%q，它表示并非由运维所作的更改", reserved)
		}
	}
	return nil
}

// unnamed is a caller that gave no name.
func unnamed(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unnamed"
	}
	return fmt.Sprintf("unnamed, from %s", peer.Addr().Unmap().WithZone(""))
}
