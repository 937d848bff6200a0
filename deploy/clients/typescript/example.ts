// A client of Sundry, with types generated from /openapi.json: see README.md.
import createClient from "openapi-fetch";
import type { components, paths } from "./sundry.js";

declare const process: { argv: string[] };

const sundry = createClient<paths, "application/json">({ baseUrl: process.argv[2] ?? "http://127.0.0.1:8080" });

// JSON: the answer has the type of its endpoint.
const ip = await sundry.GET("/api/ip", { params: { query: { ip: "1.1.1.1" } } });
if (ip.data) {
  const about: components["schemas"]["IpData"] = ip.data.data;
  console.log("ip:", about.ip, about.country);
}

// Other formats are told by the parameter, and parsed as what they are.
const text = await sundry.GET("/api/60s", { params: { query: { date: "2026-08-22", type: "text" } }, parseAs: "text" });
console.log("60s:", text.data?.split("\n")[0]);
const picture = await sundry.GET("/api/qrcode", { params: { query: { text: "hello", color: "ff0000" } }, parseAs: "blob" });
console.log("qrcode:", picture.data?.type, picture.data !== undefined && picture.data.size > 100);

// An error has a type of a closed list.
const wrong = await sundry.GET("/api/qrcode", { params: { query: { text: "hello", size: 1, lang: "en" } } });
if (wrong.error) {
  console.log("error:", wrong.response.status, explain(wrong.error));
}

function explain(failed: components["schemas"]["Error"]): string {
  switch (failed.error.type) {
    case "invalid_parameter":
    case "missing_parameter":
      return `${failed.error.type} ${failed.error.parameter}`;
    default:
      return failed.message;
  }
}
