// Package status says whether the endpoints work: now, and over the last day. It is what
// the public is told, so it promises that nothing else can be read from it, such as
// sources, hosts, causes, or how many requests there are; and that what is unknown is
// never shown as good.
//
// It is made of the History, which remembers how requests ended: the last hour by the
// minute, the last day by the half hour, of each endpoint and of all together. A request
// pays nothing for it, because it takes the differences of what is counted anyway; its
// memory depends on the number of endpoints alone; and a time in which nothing was
// observed is unknown, and not one without requests. It does not outlive the process; the
// Record does, which a Keeper keeps: ninety days and their incidents, for a whole fleet.
package status
