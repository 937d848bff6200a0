// Package waybill knows parcels by their numbers: it names the carriers that a
// tracking number may belong to, and brings what tracking services answer into
// one shape. It promises to be pure: no function reads a clock, a file or the
// network, none keeps or logs what it is given, and any input, however odd, ends
// in a result or an error. It never claims to be certain of a carrier on the
// strength of digits alone: their number ranges overlap.
//
// Carrier codes are kuaidi100's, at https://api.kuaidi100.com/document/.
package waybill
