package minecraft

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"unicode/utf16"
)

// legacy is the conversation of servers before 1.7: two bytes, answered with a
// kick whose reason is the status.
func legacy(conn net.Conn) (Status, error) {
	if _, err := conn.Write([]byte{0xfe, 0x01}); err != nil {
		return Status{}, err
	}
	var head [3]byte
	if _, err := io.ReadFull(conn, head[:1]); err != nil {
		return Status{}, err
	}
	if head[0] != 0xff {
		return Status{}, errors.New("not a kick")
	}
	if _, err := io.ReadFull(conn, head[1:]); err != nil {
		return Status{}, err
	}
	body, err := readAll(conn, 2*int64(binary.BigEndian.Uint16(head[1:]))) // at most 128 KiB
	if err != nil {
		return Status{}, err
	}
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(body[2*i:])
	}
	return parseKick(string(utf16.Decode(units)))
}

// parseKick reads §1 and five fields between NULs (1.4 to 1.6), or motd, online
// and max between § (before). The motd of the latter may itself contain §, so it
// is split from the right.
func parseKick(text string) (Status, error) {
	if strings.HasPrefix(text, "§1\x00") {
		f := strings.Split(text, "\x00")
		if len(f) < 6 {
			return Status{}, errors.New("kick has too few fields")
		}
		return kickStatus(f[3], f[2], f[1], f[4], f[5])
	}
	f := strings.Split(text, "§")
	if len(f) < 3 {
		return Status{}, errors.New("kick has too few fields")
	}
	n := len(f)
	return kickStatus(strings.Join(f[:n-2], "§"), "", "", f[n-2], f[n-1])
}

func kickStatus(motd, version, protocolText, online, limit string) (Status, error) {
	s := Status{Version: line(version, maxVersion), Software: new(wireMods).software(version), MOTD: clean(motd, maxMOTD), MOTDRaw: printable(motd, maxMOTD)}
	s.Protocol, s.Online, s.Max = count(protocolText), count(online), count(limit)
	if s.Protocol == nil && protocolText != "" || s.Online == nil || s.Max == nil {
		return Status{}, errors.New("kick has no numbers") // strconv's error would contain the text
	}
	return s, nil
}

// count parses a decimal of 32 bits; some servers send negative ones. It is nil for
// anything else.
func count(s string) *int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return nil
	}
	return new(int(n))
}
