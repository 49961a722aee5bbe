import * as zlib from 'node:zlib'

/** Whether this runtime has zstd. */
export const hasZstd = () => zlib.zstdCompress !== undefined

/** The bytes, packed by zstd, of which compression streams know nothing. */
export function zstd(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const { zstdCompress } = zlib
  if (!zstdCompress) throw new TypeError('this runtime has no zstd')
  return new Promise((resolve, reject) => {
    zstdCompress(bytes, (error, packed) => (error ? reject(error) : resolve(packed)))
  })
}
