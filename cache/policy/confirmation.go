package policy

import "time"

// A copy in memory that is served is confirmed behind the response: Redis is looked into for a newer one.
const (
	// ConfirmEvery is how long a copy needs no confirmation, after the last one or its creation.
	ConfirmEvery = 5 * time.Second
	// ConfirmAgain is how long it needs none after a look that Redis did not answer.
	ConfirmAgain = time.Second
	// MostConfirming is how many copies are confirmed at the same time.
	MostConfirming = 64
)
