package proxy

import (
	"fmt"
	"regexp"
)

// hostName matches what the Host field of a plain request holds: a name, or an address,
// and a port.
var hostName = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// CheckHost accepts what may stand in a URL as host and port.
func CheckHost(host string) error {
	if !hostName.MatchString(host) {
		return fmt.Errorf("host %q: expected a name or an address, and a port if need be", host)
	}
	return nil
}
