import { gunzipSync } from 'node:zlib'
import type { Received } from '../../support/sink-receiver.node.ts'

/** Settings with every sink on, all at one far end, each under a path of its own. */
export function everySink(url: string) {
  const callback_settings = {
    langfuse: { host: `${url}/langfuse`, public_key: 'pk', secret_key: 'sk-langfuse' },
    otel: { endpoint: `${url}/otel`, protocol: 'http/json' },
    opentelemetry: { endpoint: `${url}/opentelemetry` },
    s3: { bucket: 'logs', endpoint: url, prefix: 's3', access_key_id: 'AKIA', secret_access_key: 'x' },
    webhook: { url: `${url}/webhook`, secret: 'whsec_YSB3ZWJob29rIGtleSBvZiB0aGlydHktdHdvIGJ5dGU=' },
  }
  return { success_callback: [...Object.keys(callback_settings), 'prometheus'], callback_settings }
}

/** The body of a request to a sink, unpacked. */
export function readable({ headers, body }: Received): string {
  const plain = headers['content-encoding'] === 'gzip' || body[0] === 0x1f ? gunzipSync(body) : body
  return plain.toString()
}
