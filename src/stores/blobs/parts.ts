import { joinBytes } from '../../lib/bytes/bytes.ts'

/** Above the 5 MiB that S3 and R2 ask of every part but the last. */
const PART_BYTES = 8 * 1024 * 1024

/** An object that is uploaded in parts and becomes visible with `complete`. */
export interface MultipartUpload {
  /** Numbers count from 1. All parts but the last have PART_BYTES. */
  part(number: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  complete(): Promise<void>
  abort(): Promise<void>
}

/** What a bucket offers for bodies of unknown length. */
export interface PartTarget {
  whole(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  begin(): Promise<MultipartUpload>
}

/** Stores a body with at most two parts in memory: a small one at once, a large one in parts, which are dropped on a
 *  failure. Resolves with the size. */
export async function putInParts(body: ReadableStream<Uint8Array> | Uint8Array, target: PartTarget): Promise<number> {
  let upload: MultipartUpload | undefined
  let size = 0
  let number = 0
  try {
    for await (const { bytes, last } of partsOf(body)) {
      size += bytes.byteLength
      if (last && !upload) await target.whole(bytes)
      else {
        upload ??= await target.begin()
        number += 1
        await upload.part(number, bytes)
      }
    }
    await upload?.complete()
    return size
  } catch (error) {
    // The first failure is thrown. An upload that cannot be aborted is left to the bucket's life-cycle rule.
    await upload?.abort().catch(() => {})
    throw error
  }
}

interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly last: boolean
}

/** Exactly one part is the last one; only it may be shorter than PART_BYTES, or empty. */
async function* partsOf(body: ReadableStream<Uint8Array> | Uint8Array): AsyncGenerator<Part> {
  let pending: Uint8Array[] = []
  let length = 0
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    let rest = chunk
    // A full part waits for one more byte, which shows that it is not the last.
    while (length + rest.byteLength > PART_BYTES) {
      const room = PART_BYTES - length
      pending.push(rest.subarray(0, room))
      rest = rest.subarray(room)
      const bytes = joined(pending)
      pending = []
      length = 0
      yield { bytes, last: false }
    }
    if (rest.byteLength > 0) pending.push(rest)
    length += rest.byteLength
  }
  yield { bytes: joined(pending), last: true }
}

const joined = (pieces: readonly Uint8Array[]) => joinBytes(pieces) as Uint8Array<ArrayBuffer>
