import type { Abort } from '../../lib/abort.ts'
import { zstd } from '../../lib/bytes/zstd.ts'
import { sha256Hex } from '../../stores/blobs/s3-signature.ts'
import type { ObjectWriter } from './s3-objects.ts'
import { logRow } from './s3-rows.ts'
import { CALLS_ALONE, type Sink, type SinkEntry } from './sink.ts'

type Compression = 'none' | 'gzip' | 'zstd'

export interface S3SinkSettings {
  readonly bucket: string
  readonly prefix?: string | undefined
  readonly compression: Compression
}

/** The endings of object names, by which readers know the compression. */
const OBJECTS: Readonly<Record<Compression, { readonly ending: string; readonly contentType: string }>> = {
  none: { ending: 'jsonl', contentType: 'application/x-ndjson' },
  gzip: { ending: 'jsonl.gz', contentType: 'application/gzip' },
  zstd: { ending: 'jsonl.zst', contentType: 'application/zstd' },
}

/** An object a minute, or of about 5 MB before compression. */
const GATHERING = { entries: 10_000, bytes: 5_000_000, ms: 60_000 }
/** How many rows are printed at once, so that calls go on in between. */
const ROWS_AT_ONCE = 200

/** Calls as objects of JSON lines, in folders by the hour in which they ended. An object that is sent again has the name
 *  that it had. */
export function s3({ bucket, prefix, compression }: S3SinkSettings, write: ObjectWriter): Sink {
  const root = prefix === undefined || prefix === '' ? '' : `${prefix.replace(/^\/+|\/+$/g, '')}/`
  const { ending, contentType } = OBJECTS[compression]

  /** The object that was sent last and not taken: to print and pack it is most of what an attempt costs. */
  let untaken: { readonly key: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined

  async function put(hour: string, entries: readonly SinkEntry[], abort: Abort): Promise<string> {
    const name = await sha256Hex(new TextEncoder().encode(entries.map(({ id }) => id).join(' ')))
    const key = `${root}${folderOf(hour)}${timeOf(entries[0] as SinkEntry)}-${name.slice(0, 16)}.${ending}`
    const bytes = untaken?.key === key ? untaken.bytes : await linesOf(entries, compression)
    untaken = { key, bytes }
    const answer = await write({ key, bytes, contentType }, abort)
    untaken = undefined
    return answer
  }

  return {
    name: 's3',
    gathering: GATHERING,
    takesContent: true,
    resendsWhole: true,
    takes: CALLS_ALONE,
    // The folder of its hour: which of the objects there has the call is not recorded.
    placeOf: ({ at }) => `s3://${bucket}/${root}${folderOf(hourOf(at))}`,
    async deliver(entries, abort) {
      const hours = [...Map.groupBy(entries, ({ event }) => hourOf(event.at))]
      const again: SinkEntry[] = []
      let answer = ''
      let failure: unknown
      for (const [hour, some] of hours) {
        try {
          answer = await put(hour, some, abort)
        } catch (error) {
          failure = error
          again.push(...some)
        }
      }
      if (again.length === entries.length) throw failure
      return { answer: failure instanceof Error ? failure.message : answer, again }
    },
  }
}

/** `2026-03-04T05` */
const hourOf = (at: string) => at.slice(0, 'yyyy-mm-ddThh'.length)

/** `date=2026-03-04/hour=05/` */
const folderOf = (hour: string) => `date=${hour.slice(0, 10)}/hour=${hour.slice(11)}/`

/** `20260304T050607089Z` */
const timeOf = ({ event }: SinkEntry) => event.at.replace(/[-:.]/g, '')

async function linesOf(entries: readonly SinkEntry[], compression: Compression): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  let next = 0
  const lines = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const some = entries.slice(next, next + ROWS_AT_ONCE)
        next += some.length
        if (some.length === 0) return controller.close()
        controller.enqueue(encoder.encode(some.map((entry) => `${JSON.stringify(logRow(entry))}\n`).join('')))
        await new Promise((resolve) => setTimeout(resolve))
      },
    },
    { highWaterMark: 0 },
  )
  const body = compression === 'gzip' ? lines.pipeThrough(new CompressionStream('gzip')) : lines
  const bytes = new Uint8Array(await new Response(body as BodyInit).arrayBuffer())
  return compression === 'zstd' ? zstd(bytes) : bytes
}
