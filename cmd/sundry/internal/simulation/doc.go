// Package simulation runs a fleet of instances with their Redis and their origin in a testing/synctest bubble: minutes of outages
// take milliseconds. The instances are the program itself. Theirs is a network of this package, which delays, cuts and loses what
// they send, as a schedule says that is derived from a seed. A checker knows who requested what and when, what was received, what the
// origin had and what operators changed, and nothing of the program: it compares that with what the documents promise.
package simulation
