// Package minecraft asks a Java Edition game server for its status by the Server
// List Ping, the protocol of the game's own server list. It promises an answer
// or an error within its timeout whatever the server sends: nothing is
// allocated by an announced length, texts from strangers come out plain, and
// bytes of a server that speaks something else are never returned.
//
// The protocol is documented at https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping.
package minecraft
