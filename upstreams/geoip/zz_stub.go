package geoip
import "net/netip"
type Place struct{}
func (Place) Data() map[string]any { return map[string]any{"country":"x"} }
type DB interface{ Lookup(netip.Addr) (Place, bool, error); Close() error }
func Country() DB { return c{} }
type c struct{}
func (c) Lookup(netip.Addr) (Place, bool, error) { return Place{}, true, nil }
func (c) Close() error { return nil }
func Open(string) (DB, error) { return c{}, nil }
func Scope(a netip.Addr) string { return "" }
func ParseAddr(s string) (netip.Addr, error) { return netip.ParseAddr(s) }
