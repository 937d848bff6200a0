//go:build !linux

package listener

// Reloading returns the state that tells a service manager that a reload has begun. READY=1 ends it.
func Reloading() string { return "RELOADING=1" }
