// Package shortlink restores a short link to the long one behind it. It promises
// to ask for no more than that takes, since asking can have effects: a known
// shortener is asked for its redirect and nothing behind it. No URL is asked or
// returned that Check has not passed, no script is run, and every walk ends: by
// hops, by time, by bytes.
package shortlink
