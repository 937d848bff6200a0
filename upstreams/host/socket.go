package host

import "strings"

// Socket is the prefix of hosts that are Unix sockets on this machine. The path of the socket follows it.
const Socket = "unix:"

// SocketOf returns the path of the Unix socket that a host names. ok is false for a host in the network.
func SocketOf(host string) (path string, ok bool) { return strings.CutPrefix(host, Socket) }
