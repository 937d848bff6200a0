"""An API as one is written with Python's http.server: notes in JSON, in memory. It says how long they are fresh, and in which groups."""

import hashlib
import http.server
import json
import sys
import threading

notes, lock = {}, threading.Lock()


class Notes(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def name(self):
        return self.path.removeprefix(sys.argv[2] + "/notes").removeprefix("/")

    def answer(self, status, value=None, **fields):
        body = b"" if value is None else json.dumps(value, ensure_ascii=False).encode()
        tag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        if status == 200 and self.command in ("GET", "HEAD") and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        self.send_response(status)
        if status == 200:
            self.send_header("Content-Type", "application/json")
            self.send_header("ETag", tag)
        for field, text in fields.items():
            self.send_header(field.replace("_", "-"), text)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        name = self.name()
        with lock:
            if name == "":
                self.answer(200, sorted(notes), Cache_Control="max-age=600", Cache_Groups='"list"')
            elif name not in notes:
                self.answer(404, Cache_Control="max-age=600", Cache_Groups=json.dumps(name))
            else:
                self.answer(200, notes[name], Cache_Control="max-age=600", Cache_Groups=json.dumps(name))

    do_HEAD = do_GET

    def do_PUT(self):
        with lock:
            notes[self.name()] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(204, Cache_Group_Invalidation='"list"')

    def do_DELETE(self):
        with lock:
            gone = notes.pop(self.name(), None)
            self.answer(404 if gone is None else 204, Cache_Group_Invalidation='"list"')

    def do_POST(self):  # empties all; with a query that is not a method of its own
        with lock:
            names = ", ".join(json.dumps(name) for name in ["list", *notes])
            notes.clear()
            self.answer(204, Cache_Group_Invalidation=names)


host, port = sys.argv[1].rsplit(":", 1)
http.server.ThreadingHTTPServer((host, int(port)), Notes).serve_forever()
