"""As much of the OpenAI client as samples of calls use, for machines that do not have it: its methods by the paths that
they call, and its rule that a field that it does not know is an error unless it is in extra_body."""

import json
import urllib.request
from types import SimpleNamespace

METHODS = {
    "chat.completions.create": ("/chat/completions", {"messages", "stream", "temperature", "max_tokens", "metadata"}),
    "embeddings.create": ("/embeddings", {"input", "dimensions"}),
    "audio.speech.create": ("/audio/speech", {"input", "voice"}),
    "audio.transcriptions.create": ("/audio/transcriptions", {"file"}),
}


class Method:
    def __init__(self, client, name):
        self.client, self.name = client, name

    def __getattr__(self, name):
        return Method(self.client, f"{self.name}.{name}")

    def __call__(self, extra_body=None, **fields):
        path, known = METHODS[self.name]
        unknown = set(fields) - known - {"model"}
        if unknown:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {unknown.pop()!r}")
        return self.client.post(path, cast_to=object, body={**fields, **(extra_body or {})})


def read(text):
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**{"content": None, **fields}))


class File:
    def __init__(self, content):
        self.content = content

    def write_to_file(self, name):
        with open(name, "wb") as out:
            out.write(self.content)


class OpenAI:
    def __init__(self, *, base_url, api_key):
        self.base_url, self.api_key = base_url, api_key

    def __getattr__(self, name):
        return Method(self, name)

    def post(self, path, *, cast_to, body):
        headers = {"Authorization": f"Bearer {self.api_key}"}
        if "file" in body:
            sent = b"".join(
                f'--edge\r\nContent-Disposition: form-data; name="{name}"{chr(59) + " filename=audio.mp3" if name == "file" else ""}\r\n\r\n'.encode()
                + (value.read() if name == "file" else str(value).encode())
                + b"\r\n"
                for name, value in body.items()
            )
            headers["Content-Type"] = "multipart/form-data; boundary=edge"
            sent += b"--edge--\r\n"
        else:
            headers["Content-Type"] = "application/json"
            sent = json.dumps(body).encode()
        answer = urllib.request.urlopen(urllib.request.Request(self.base_url + path, sent, headers))
        if answer.headers["Content-Type"].startswith("audio/"):
            return File(answer.read())
        if body.get("stream"):
            return (read(line[6:]) for line in answer if line.startswith(b"data: {"))
        return read(answer.read())
