/** The only kind of WAV file that is read and written here: samples of 16 bits in one channel. */
const HEADER_BYTES = 44
const BYTES_A_SAMPLE = 2
const PCM = 1

const RIFF = 0x46464952
const WAVE = 0x45564157
const FORMAT = 0x20746d66
const DATA = 0x61746164

/** A WAV file of samples. */
export function asWav(samples: Uint8Array, rate: number): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES + samples.byteLength)
  const view = new DataView(file.buffer)
  const words: readonly (readonly [number, 2 | 4])[] = [
    [RIFF, 4],
    [HEADER_BYTES - 8 + samples.byteLength, 4],
    [WAVE, 4],
    [FORMAT, 4],
    [16, 4],
    [PCM, 2],
    [1, 2],
    [rate, 4],
    [BYTES_A_SAMPLE * rate, 4],
    [BYTES_A_SAMPLE, 2],
    [8 * BYTES_A_SAMPLE, 2],
    [DATA, 4],
    [samples.byteLength, 4],
  ]
  let at = 0
  for (const [word, size] of words) {
    if (size === 4) view.setUint32(at, word, true)
    else view.setUint16(at, word, true)
    at += size
  }
  file.set(samples, HEADER_BYTES)
  return file
}

/** The samples of a WAV file and how many there are a second; undefined for anything else. A length beyond the file's, as
 *  of one that was written as it was made, means its rest. */
export function samplesIn(file: Uint8Array): { readonly samples: Uint8Array; readonly rate: number } | undefined {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.byteLength < 12 || view.getUint32(0, true) !== RIFF || view.getUint32(8, true) !== WAVE) return undefined
  let rate: number | undefined
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const name = view.getUint32(at, true)
    const length = view.getUint32(at + 4, true)
    const from = at + 8
    if (name === FORMAT && from + 16 <= file.byteLength) {
      const isPlain = view.getUint16(from, true) === PCM && view.getUint16(from + 2, true) === 1
      if (!isPlain || view.getUint16(from + 14, true) !== 8 * BYTES_A_SAMPLE) return undefined
      rate = view.getUint32(from + 4, true)
    }
    if (name === DATA) return rate === undefined ? undefined : { samples: file.subarray(from, from + length), rate }
    at = from + length + (length % 2)
  }
  return undefined
}
