package minecraft

import (
	"bytes"
	"errors"
	"io"
	"math"
)

// unpackMods decodes the list of mods that Forge sends since 1.18.1: bytes in the
// characters of a text. What comes behind a mistake is left out.
func unpackMods(d string) []Mod {
	b := unpack(d)
	texts, err := readMods(b, false)
	if err == nil {
		return texts
	}
	if numbers, err := readMods(b, true); err == nil || len(numbers) > len(texts) {
		return numbers
	}
	return texts
}

// unpack reads 15 bits of each character, the lowest first, behind two characters with
// the number of bytes.
func unpack(d string) []byte {
	var out []byte
	held, bits, size, at := uint32(0), 0, 0, 0
	for _, r := range d {
		c := uint32(r) & 0x7fff
		if at++; at <= 2 {
			size |= int(c) << (15 * (at - 1))
			continue
		}
		for held, bits = held|c<<bits, bits+15; bits >= 8; bits -= 8 {
			out = append(out, byte(held))
			held >>= 8
		}
	}
	return out[:min(size, len(out))]
}

// readMods reads the list: whether it is truncated, and its length, then for each mod the
// number of its channels, with a bit that says that there is no version, its name, its
// version, and the channels. The version of a channel is a text, or a number since 1.20.2.
func readMods(b []byte, numbers bool) (mods []Mod, err error) {
	if len(b) < 3 {
		return nil, io.ErrUnexpectedEOF
	}
	r := bytes.NewReader(b[3:])
	for range min(int(b[1])<<8|int(b[2]), maxMods) {
		m, err := readMod(r, numbers)
		if err != nil {
			return mods, err
		}
		mods = append(mods, m)
	}
	return mods, nil
}

func readMod(r *bytes.Reader, numbers bool) (m Mod, err error) {
	flags, err := readVarInt(r)
	if err != nil {
		return m, err
	}
	if m.Name, err = readString(r); err == nil && flags&1 == 0 {
		m.Version, err = readString(r)
	}
	for range uint32(flags) >> 1 {
		if err != nil {
			return m, err
		}
		err = skipChannel(r, numbers)
	}
	return m, err
}

// skipChannel reads the name and version of a channel, and whether clients need it.
func skipChannel(r *bytes.Reader, numbers bool) error {
	_, err := readString(r)
	if err == nil && numbers {
		_, err = readVarInt(r)
	} else if err == nil {
		_, err = readString(r)
	}
	if err == nil {
		_, err = r.ReadByte()
	}
	return err
}

var errString = errors.New("invalid length of a text")

func readString(r *bytes.Reader) (string, error) {
	n, err := readVarInt(r)
	if err != nil {
		return "", err
	}
	if n < 0 || n > math.MaxInt16 || int(n) > r.Len() {
		return "", errString
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}
