// Package openloop offers a server requests at times that do not depend on its
// answers. The latency of a request counts from when it was due, so that a server
// that stops for a moment is charged with everybody who came meanwhile.
package openloop
