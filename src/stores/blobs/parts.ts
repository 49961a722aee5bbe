/** Above the 5 MiB that S3 and R2 ask of every part but the last. */
const PART_BYTES = 8 * 1024 * 1024

/** An object that is uploaded in parts and becomes visible with `complete`. */
export interface MultipartUpload {
  /** Numbers count from 1. All parts but the last have PART_BYTES. The bytes are used again once it has resolved. */
  part(number: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  complete(): Promise<void>
  abort(): Promise<void>
}

/** What a bucket offers for bodies of unknown length. */
export interface PartTarget {
  whole(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  begin(): Promise<MultipartUpload>
}

/** Stores a body with one part in memory: a small one at once, a large one in parts, which are dropped on a failure.
 *  Resolves with the size. */
export async function putInParts(body: ReadableStream<Uint8Array> | Uint8Array, target: PartTarget): Promise<number> {
  let upload: MultipartUpload | undefined
  const part = partBuffer()
  let size = 0
  let number = 0
  try {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      size += chunk.byteLength
      for (let rest = chunk; rest.byteLength > 0; ) {
        // A full part waits for one more byte, which shows that it is not the last.
        if (part.isFull) {
          upload ??= await target.begin()
          number += 1
          await upload.part(number, part.take())
        }
        rest = part.add(rest)
      }
    }
    if (upload) {
      await upload.part(number + 1, part.take())
      await upload.complete()
    } else await target.whole(part.take())
    return size
  } catch (error) {
    // The first failure is thrown. An upload that cannot be aborted is left to the bucket's life-cycle rule.
    await upload?.abort().catch(() => {})
    throw error
  }
}

const FIRST_CAPACITY = 64 * 1024

/** The bytes of one part. Its memory is used again for the next part, so that a large body leaves no garbage but its
 *  pieces. */
function partBuffer() {
  let bytes = new Uint8Array(FIRST_CAPACITY)
  let length = 0

  function grow(wanted: number): void {
    const grown = new Uint8Array(Math.min(PART_BYTES, Math.max(wanted, 2 * bytes.byteLength)))
    grown.set(bytes.subarray(0, length))
    bytes = grown
  }

  return {
    get isFull() {
      return length === PART_BYTES
    },
    /** Adds as much as there is room for, and returns the rest. */
    add(piece: Uint8Array): Uint8Array {
      const taken = piece.subarray(0, PART_BYTES - length)
      if (length + taken.byteLength > bytes.byteLength) grow(length + taken.byteLength)
      bytes.set(taken, length)
      length += taken.byteLength
      return piece.subarray(taken.byteLength)
    },
    /** Empties it. What it returns is valid until the next piece is added. */
    take(): Uint8Array<ArrayBuffer> {
      const taken = bytes.subarray(0, length)
      length = 0
      return taken
    },
  }
}
