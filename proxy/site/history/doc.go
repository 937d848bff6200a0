// Package history remembers how requests ended: the last hour by the minute, the last
// day by the half hour, of each endpoint and of all together. It promises that a
// request pays nothing for it, because it takes the differences of what is counted
// anyway; that its memory depends on the number of endpoints alone; and that a time in
// which nothing was observed is unknown, and not one without requests. It does not
// outlive the process.
package history
