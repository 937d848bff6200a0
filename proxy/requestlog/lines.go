package requestlog

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"

	"sundry/metrics/words"
)

// longestLine is the longest line that is read, in bytes.
const longestLine = 64 << 10

// eachLine calls line with each line of a log, numbered from 1, without its end. It recognizes gzip.
// Of a line that is too long, there is an error in its place; blank ones are left out. It ends
// with the log, or with the error that line returns.
func eachLine(log io.Reader, line func(n int, text []byte, err error) error) error {
	in, err := unzipped(log)
	for n := 1; err == nil; n++ {
		var text []byte
		var long, failed error
		text, long, err = readLine(in)
		if len(text) > 0 || long != nil {
			failed = line(n, text, long)
		}
		if failed != nil {
			return failed
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func unzipped(log io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(log, longestLine)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	return bufio.NewReaderSize(z, longestLine), err
}

var errLong = words.Errorf("longer than %d bytes", "超过 %d 字节", longestLine)

// readLine reads a line. Of one that is too long, it reads on to its end. With an error there may
// be a line as well, the last.
func readLine(in *bufio.Reader) (text []byte, long, err error) {
	text, err = in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		long = errLong
		_, err = in.ReadSlice('\n')
	}
	return bytes.TrimRight(text, "\r\n"), long, err
}

// unread is why a log cannot be read on, in Chinese.
func unread(err error) string {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		err = of.Err // its path is that of the log
	}
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return "gzip 数据已损坏"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "gzip 数据不完整"
	}
	return words.Failure(err).ZH()
}
