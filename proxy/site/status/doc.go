// Package status says whether the endpoints work: now, and over the last day. It is what
// the public is told, so it promises that nothing else can be read from it, such as
// sources, hosts, causes, or how many requests there are; and that what is unknown is
// never shown as good.
package status
