package minecraft

import (
	"regexp"
	"strings"
)

// Player is one of a server's sample of players.
type Player struct {
	Name string
	UUID string // with hyphens, in lower case; empty if the server sent none
}

// Mod is a mod that a server lists.
type Mod struct{ Name, Version string }

// wirePlayer is a player in the response.
type wirePlayer struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// wireMods are the mods of Forge: modinfo until 1.12, forgeData since 1.13.
type wireMods struct {
	ModInfo *struct {
		List []struct {
			ID      string `json:"modid"`
			Version string `json:"version"`
		} `json:"modList"`
	} `json:"modinfo"`
	ForgeData *struct {
		Mods []struct {
			ID      string `json:"modId"`
			Version string `json:"modmarker"`
		} `json:"mods"`
		Packed string `json:"d"` // the mods since 1.18.1, where the list above is empty
	} `json:"forgeData"`
}

// players are the first players of a sample that have a name.
func players(sample []wirePlayer) []Player {
	var out []Player
	for _, p := range sample[:min(len(sample), maxSample)] {
		if name := line(p.Name, maxName); name != "" {
			out = append(out, Player{Name: name, UUID: uuid(p.ID)})
		}
	}
	return out
}

var uuidForm = regexp.MustCompile(`^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$`)

// uuid writes an identifier in its usual form; empty for the lines of text and
// zeros that servers send in its place.
func uuid(id string) string {
	m := uuidForm.FindStringSubmatch(strings.ToLower(id))
	if m == nil || strings.Trim(id, "0-") == "" {
		return ""
	}
	return strings.Join(m[1:], "-")
}

// mods lists the mods in their order.
func (w *wireMods) mods() []Mod {
	var out []Mod
	add := func(id, version string) {
		if name := line(id, maxName); name != "" && len(out) < maxMods {
			out = append(out, Mod{Name: name, Version: line(version, maxName)})
		}
	}
	if w.ModInfo != nil {
		for _, m := range w.ModInfo.List {
			add(m.ID, m.Version)
		}
	}
	if w.ForgeData != nil {
		for _, m := range w.ForgeData.Mods {
			add(m.ID, m.Version)
		}
		for _, m := range unpackMods(w.ForgeData.Packed) {
			add(m.Name, m.Version)
		}
	}
	return out
}

// brandNames are software that names itself in the version.
const brandNames = "Paper Purpur Folia Pufferfish Leaf Leaves Spigot CraftBukkit Velocity BungeeCord Waterfall FlameCord XCord " +
	"Fabric Quilt Forge NeoForge Mohist Arclight Magma CatServer Youer Sponge SpongeVanilla SpongeForge Glowstone Minestom Tuinity Airplane Cuberite Geyser"

// software is the server's software, where it can be told: servers and proxies of
// these names put them before the version of the game, and Forge sends its mods.
func (w *wireMods) software(version string) string {
	brands := strings.Fields(brandNames)
	for word := range strings.FieldsFuncSeq(line(version, maxVersion), func(r rune) bool { return r == ' ' || r == '-' || r == '/' }) {
		for _, name := range brands {
			if strings.EqualFold(word, name) {
				return name
			}
		}
	}
	if w.ModInfo != nil || w.ForgeData != nil {
		return "Forge"
	}
	return ""
}
