// Package chinatime has the time zone of China, the same on every machine: no
// time zone database is needed. It reads times as services there write them, and names
// days of the traditional calendar.
package chinatime

import "time"

// zone is that of the whole country. Its offset has not changed since 1991; of
// earlier times only the date matters here.
var zone = time.FixedZone("CST", 8*60*60)

// Zone is the time zone of China.
func Zone() *time.Location { return zone }
