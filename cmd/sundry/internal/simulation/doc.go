// Package simulation runs a fleet of instances with their Redis and their origin in a testing/synctest bubble: minutes of outages
// take milliseconds. The instances are the program itself. Theirs is a network of this package, which delays, cuts and loses what
// they send, as a schedule says that is derived from a seed. The checker knows the requests of clients with their responses, the calls of the
// origin, and the changes of operators, and nothing of the program. It compares them with what the documents promise.
package simulation
