import { joinBytes } from '../../../lib/bytes/bytes.ts'
import { frameSplitter, readFrame } from '../../../lib/bytes/sse.ts'
import type { Client, ClientStream } from '../../../pipeline/client.ts'
import { KEEP_ALIVE } from '../../../pipeline/respond/keep-alive.ts'

const encoder = new TextEncoder()
/** Comments are errors to some clients of this dialect. */
const BLANK = encoder.encode('\r\n')
const FIRST = encoder.encode('[')
const NEXT = encoder.encode(',\r\n')
const LAST = encoder.encode(']')
const NOTHING = new Uint8Array()

/** A client whose streams are kept alive by blank lines. */
export function geminiClient(client: Client): Client {
  return withStream(client, (stream) => ({
    ...stream,
    write: (bytes, owned) => (bytes === KEEP_ALIVE ? stream.write(BLANK) : stream.write(bytes, owned)),
  }))
}

/** A client that reads its streams as a JSON list, which this dialect sends where no events are asked for. */
export function listClient(client: Client): Client {
  return withStream(client, (stream) => {
    const splitter = frameSplitter()
    let begun = false
    const asItems = (bytes: Uint8Array): Uint8Array => {
      const out: Uint8Array[] = []
      for (const frame of splitter.push(bytes)) {
        const { data } = readFrame(frame)
        if (data === undefined) continue
        out.push(begun ? NEXT : FIRST, encoder.encode(data))
        begun = true
      }
      return out.length === 0 ? NOTHING : joinBytes(out)
    }
    return {
      ...stream,
      write(bytes) {
        if (bytes === KEEP_ALIVE) return stream.write(BLANK)
        const items = asItems(bytes)
        return items.byteLength === 0 ? undefined : stream.write(items)
      },
      async close() {
        await stream.write(begun ? LAST : joinBytes([FIRST, LAST]))
        await stream.close()
      },
    }
  })
}

function withStream(client: Client, wrapped: (stream: ClientStream) => ClientStream): Client {
  return { ...client, openStream: (length) => wrapped(client.openStream(length)) }
}
