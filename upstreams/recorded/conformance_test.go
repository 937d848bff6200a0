package recorded

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/catalog"
)

// TestOrderOfTheSpecification: a group lists its endpoints as the table does,
// and no other than those in the table are built in.
func TestOrderOfTheSpecification(t *testing.T) {
	table, err := ConformanceTable()
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, nil)
	var want, got []string
	for _, g := range c.Groups() {
		for _, row := range table {
			if e, ok := c.Get(row.Endpoint); ok && e.Group == g.Name {
				want = append(want, row.Endpoint)
			}
		}
		for _, e := range c.InGroup(g.Name) {
			got = append(got, e.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || !slices.IsSortedFunc(c.Endpoints, func(a, b *catalog.Endpoint) int {
		return slices.Index(want, a.Name) - slices.Index(want, b.Name)
	}) {
		t.Errorf("order (-table +catalog):\n%s", diff)
	}
}
