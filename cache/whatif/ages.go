package whatif

import (
	"math/bits"
	"time"
)

const (
	// ageSteps is by how many buckets each doubling of an age is divided: they are
	// 3 % wide at most.
	ageSteps = 1 << ageBits
	ageBits  = 5
	// ageUnit is what is told apart of young answers.
	ageUnit = time.Millisecond
)

// ages is a histogram of ages, in milliseconds, whose buckets grow with the age. The
// zero value is empty.
type ages struct {
	counts [(64 - ageBits) * ageSteps]uint64
	n      uint64
	sum    float64 // in nanoseconds
}

func (a *ages) add(age time.Duration, weight uint64) {
	a.counts[ageBucket(age)] += weight
	a.n += weight
	a.sum += float64(age) * float64(weight)
}

// ageBucket is the bucket of an age that is not negative.
func ageBucket(age time.Duration) int {
	v := uint64(age / ageUnit)
	if v < ageSteps {
		return int(v)
	}
	shift := bits.Len64(v) - ageBits - 1
	return shift*ageSteps + int(v>>shift)
}

// bucketEnd is the least age that is above a bucket.
func bucketEnd(bucket int) time.Duration {
	if bucket < 2*ageSteps {
		return time.Duration(bucket+1) * ageUnit
	}
	shift := bucket/ageSteps - 1
	return time.Duration(bucket%ageSteps+ageSteps+1) << shift * ageUnit
}

// mean is 0 of none.
func (a *ages) mean() time.Duration {
	if a.n == 0 {
		return 0
	}
	return time.Duration(a.sum / float64(a.n))
}

// quantile is the age that a share of all, above 0 and up to 1, does not exceed; it is
// up to 3 % too high. 0 of none.
func (a *ages) quantile(share float64) time.Duration {
	rest := share * float64(a.n)
	for i, n := range a.counts {
		if rest -= float64(n); n > 0 && rest <= 0 {
			return bucketEnd(i)
		}
	}
	return 0
}
