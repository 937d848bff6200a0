// Command example is a client of Sundry, whose package api is generated from
// /openapi.json: see the README beside it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"sundry/deploy/clients/go/api"
)

func main() {
	server := "http://127.0.0.1:8080"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	if err := run(context.Background(), server); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, server string) error {
	sundry, err := api.NewClientWithResponses(server)
	if err != nil {
		return err
	}

	// JSON: the answer has the type of its endpoint.
	ip, err := sundry.GetIpWithResponse(ctx, &api.GetIpParams{Ip: new("1.1.1.1")})
	if err != nil {
		return err
	}
	if ip.JSON200 != nil {
		var about api.IpData = ip.JSON200.Data
		fmt.Println("ip:", about.Ip, *about.Country)
	}

	// Other formats are told by the parameter, and are in the body as they are.
	text, err := sundry.Get60sWithResponse(ctx, &api.Get60sParams{Date: new("2026-08-22"), Type: new(api.Get60sParamsTypeText)})
	if err != nil {
		return err
	}
	first, _, _ := bytes.Cut(text.Body, []byte("\n"))
	fmt.Println("60s:", string(first))
	picture, err := sundry.GetQrcodeWithResponse(ctx, &api.GetQrcodeParams{Text: "hello", Color: new("ff0000")})
	if err != nil {
		return err
	}
	fmt.Println("qrcode:", picture.HTTPResponse.Header.Get("Content-Type"), len(picture.Body) > 100)

	// An error has a type of a closed list.
	wrong, err := sundry.GetQrcodeWithResponse(ctx, &api.GetQrcodeParams{Text: "hello", Size: new(1), Lang: new(api.GetQrcodeParamsLangEn)})
	if err != nil {
		return err
	}
	if failed := wrong.JSON400; failed != nil && failed.Error.Type == api.ErrorTypeInvalidParameter {
		fmt.Println("error:", wrong.StatusCode(), failed.Error.Type, *failed.Error.Parameter)
	}
	return nil
}
