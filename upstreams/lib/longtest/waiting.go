package longtest

import (
	"flag"
	"runtime"
	"runtime/debug"
	"strconv"
)

// WaitTogether lets two parallel tests per processor run at once, unless -parallel says how many. Call it in the
// TestMain of a package whose tests wait, for other programs and for seconds to pass, more than they work. With the
// race detector they work. With four, reads from Redis begin to take longer than their usual time, and are misses.
func WaitTogether() {
	flag.Parse()
	given := Race
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err) // go test defines it
	}
}

// CollectLess lets the heap grow to five times what is in use before the garbage collector runs. Call it in the
// TestMain of a package whose tests load the catalog again and again: they take a quarter less of the processors.
func CollectLess() { debug.SetGCPercent(400) }
