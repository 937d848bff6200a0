// Package tracking recognises tracking numbers: it names the carriers that a number
// may belong to, and converts the answers of tracking services to one form. It
// promises to be pure: no function reads a clock, a file or the network, none
// stores or logs its input, and any input ends in a result or an error. It never
// reports a carrier as certain by digits alone: the carriers' number ranges
// overlap.
//
// Carrier codes are kuaidi100's, at https://api.kuaidi100.com/document/.
package tracking
