// Package cache answers a key from memory, or fills it once for everyone who
// asks. What it promises:
//
//   - A fresh entry costs one look-up and one copy of the bytes that are sent,
//     however many candidates its pool holds.
//   - Freshness is decided when an entry is read, from its birth and the policy
//     in force at that moment: a changed TTL applies to what is cached already.
//   - A key is filled by one flight at a time. Whoever leaves hurts nobody; when
//     the last one leaves, the flight is cancelled, unless it is a refresh.
//   - Fills are bounded in number, in all and for each endpoint, and so is what an
//     endpoint may take of the memory while others want some.
//   - A failure is never stored as an answer and never replaces one. Nor do a
//     definite no and a last resort replace a copy that may still stand in.
//   - What a purge or a drop meant is gone, in both tiers, and so is what was
//     loaded for a fill that began before it.
//   - Redis only helps: without it, or with a sick one, nothing fails.
//
// The life of an entry, by age:
//
//	born        eager     TTL            grace            stale-if-error
//	 |-- fresh ---|-fresh--|---- grace ----|---- stale ----| gone
//	 hit          hit, one  served, one     served when the  filled before
//	              refresh   refresh behind  refresh fails    answering
//	              behind                    or is slow
//
// Every answer comes in the forms its endpoint declares (JSON, text, a picture,
// a redirect), all made at fill. A form with several bodies is a pool: each
// request gets one of them at random.
package cache
