import type { Blobs } from '../../src/stores/blobs/blobs.ts'

type Failure = 'before' | 'middle' | 'after'

/** Blobs of which every so many operations one fails: in turn before anything is done, in the middle of the content, and
 *  when it was done. */
export function failingBlobs(blobs: Blobs, every = 10): Blobs & { readonly failures: number } {
  const kinds: readonly Failure[] = ['middle', 'after', 'before']
  let operations = 0
  let failures = 0

  async function failing<Result>(
    work: () => Promise<Result>,
    inTheMiddle: () => Promise<Result>,
    undo: (result: Result) => unknown = () => {},
  ): Promise<Result> {
    operations += 1
    if (operations % every !== 0) return work()
    const kind = kinds[failures % kinds.length]
    failures += 1
    if (kind === 'middle') return inTheMiddle()
    if (kind === 'after') await undo(await work())
    throw new Error(`the storage failed ${kind} an operation`)
  }

  return {
    get failures() {
      return failures
    },
    put: (key, body, contentType) =>
      failing(
        () => blobs.put(key, body, contentType),
        () => blobs.put(key, cut(body instanceof Uint8Array ? streamOf(body) : body), contentType),
      ),
    get: (key, range) =>
      failing(
        () => blobs.get(key, range),
        async () => {
          const blob = await blobs.get(key, range)
          return blob && { ...blob, body: cut(blob.body) }
        },
        (blob) => blob?.body.cancel(),
      ),
    remove(key) {
      const remove = () => blobs.remove(key)
      return failing(remove, () => remove().then(() => Promise.reject(new Error('the storage failed'))))
    },
  }
}

/** A stream that breaks off in the middle of its first piece. */
function cut(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let isFirst = true
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = isFirst ? await reader.read() : {}
      isFirst = false
      if (value) return controller.enqueue(value.subarray(0, value.byteLength / 2))
      await reader.cancel()
      throw new Error('the storage failed in the middle')
    },
  })
}

const streamOf = (bytes: Uint8Array) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
