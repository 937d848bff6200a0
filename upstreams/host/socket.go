package host

import "strings"

// Socket begins the names of hosts that are Unix sockets on this machine. The path of the socket follows.
const Socket = "unix:"

// SocketOf returns the path of the socket that a host is. ok is false for a host of the network.
func SocketOf(host string) (path string, ok bool) { return strings.CutPrefix(host, Socket) }
