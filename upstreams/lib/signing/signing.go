// Package signing makes the signatures and tokens that services demand of their own
// clients, and reads from signed links when they end. It makes no connections, and
// promises the form alone: the protocols are undocumented, and whether a signed request
// is answered is up to the service.
package signing
