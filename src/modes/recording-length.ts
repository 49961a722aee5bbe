/** Measures the length of a recording from its bytes as they pass. */
export interface RecordingLength {
  push(bytes: Uint8Array): void
  /** undefined where the format is unknown, or leaves the length uncertain. */
  seconds(): number | undefined
}

/** Measures only formats in which a false length would mislead a decoder too: WAV with uncompressed samples, and MP3
 *  frame by frame. */
export function recordingLength(): RecordingLength {
  const wav = wavLength()
  const mp3 = mp3Length()
  return {
    push(bytes) {
      wav.push(bytes)
      mp3.push(bytes)
    },
    seconds: () => wav.seconds() ?? mp3.seconds(),
  }
}

/** The samples of a WAV file begin within these first bytes. */
const HEAD_BYTES = 4096
/** Codes of uncompressed formats. */
const PLAIN = new Set([1, 3, 6, 7])
const EXTENSIBLE = 0xfffe

function wavLength(): RecordingLength {
  const head = new Uint8Array(HEAD_BYTES)
  let known = 0
  let total = 0
  return {
    push(bytes) {
      if (known < HEAD_BYTES) {
        const more = bytes.subarray(0, HEAD_BYTES - known)
        head.set(more, known)
        known += more.byteLength
      }
      total += bytes.byteLength
    },
    seconds() {
      const samples = samplesIn(new DataView(head.buffer, 0, known))
      return samples && Math.max(0, total - samples.start) / samples.bytesASecond
    },
  }
}

function samplesIn(view: DataView): { readonly start: number; readonly bytesASecond: number } | undefined {
  if (view.byteLength < 12 || chunkNameAt(view, 0) !== 'RIFF' || chunkNameAt(view, 8) !== 'WAVE') return undefined
  let bytesASecond: number | undefined
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const name = chunkNameAt(view, at)
    const size = view.getUint32(at + 4, true)
    if (name === 'fmt ') bytesASecond ??= at + 24 <= view.byteLength ? rateOf(view, at + 8, size) : undefined
    if (name === 'fmt ' && bytesASecond === undefined) return undefined
    if (name === 'data') return bytesASecond === undefined ? undefined : { start: at + 8, bytesASecond }
    at += 8 + size + (size % 2)
  }
  return undefined
}

function rateOf(view: DataView, at: number, size: number): number | undefined {
  const format = view.getUint16(at, true)
  const isPlain =
    PLAIN.has(format) ||
    (format === EXTENSIBLE && size >= 40 && at + 26 <= view.byteLength && PLAIN.has(view.getUint16(at + 24, true)))
  const channels = view.getUint16(at + 2, true)
  const samplesASecond = view.getUint32(at + 4, true)
  const frame = (channels * view.getUint16(at + 14, true)) / 8
  // Decoders differ in which of the numbers they use, so all of them must agree.
  const agrees = view.getUint16(at + 12, true) === frame && view.getUint32(at + 8, true) === samplesASecond * frame
  return isPlain && agrees && frame > 0 && samplesASecond >= 4000 ? samplesASecond * frame : undefined
}

function chunkNameAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}

/** Players' tags may follow the last frame; more bytes than these make the length uncertain. */
const TAIL_BYTES = 4096
const ID3_BYTES = 10

function mp3Length(): RecordingLength {
  let pending: number[] = []
  let wanted = ID3_BYTES
  let skip = 0
  let seconds = 0
  let tail: number | undefined
  return {
    push(bytes) {
      for (let at = 0; at < bytes.byteLength; ) {
        if (tail !== undefined) {
          tail += bytes.byteLength - at
          return
        }
        if (skip > 0) {
          const passed = Math.min(skip, bytes.byteLength - at)
          skip -= passed
          at += passed
          continue
        }
        pending.push(bytes[at++] as number)
        if (pending.length < wanted) continue
        const tag = wanted === ID3_BYTES ? tagBytes(pending) : undefined
        const frame = tag === undefined ? frameAt(pending) : undefined
        if (tag !== undefined) skip = tag
        else if (frame) {
          seconds += frame.seconds
          skip = frame.bytes - wanted
        } else tail = pending.length
        pending = []
        wanted = 4
      }
    },
    seconds: () => (seconds > 0 && (tail ?? 0) <= TAIL_BYTES ? seconds : undefined),
  }
}

/** The size of a tag before the first frame; undefined where there is none. */
function tagBytes(head: readonly number[]): number | undefined {
  const [i, d, three, , , flags = 0, ...size] = head
  if (i !== 0x49 || d !== 0x44 || three !== 0x33) return undefined
  const bytes = size.reduce((sum, seven) => sum * 128 + (seven & 0x7f), 0)
  return (flags & 0x10) === 0 ? bytes : bytes + ID3_BYTES
}

/** kbit/s by version and layer. */
const BIT_RATES: Readonly<Record<string, readonly number[]>> = {
  '1/3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '1/2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '2/3': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2/2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const SAMPLE_RATES = [44_100, 48_000, 32_000]

/** Size and length of a frame by its header; undefined where the bytes are no valid header. */
function frameAt([sync = 0, kind = 0, rates = 0]: readonly number[]):
  | { readonly bytes: number; readonly seconds: number }
  | undefined {
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0) return undefined
  const version = (kind >> 3) & 3
  const layer = 4 - ((kind >> 1) & 3)
  if (version === 1 || layer === 1 || layer === 4) return undefined
  const kilobits = BIT_RATES[`${version === 3 ? 1 : 2}/${layer}`]?.[rates >> 4]
  const usual = SAMPLE_RATES[(rates >> 2) & 3]
  if (!kilobits || usual === undefined) return undefined
  const samplesASecond = version === 3 ? usual : version === 2 ? usual / 2 : usual / 4
  const samples = layer === 3 && version !== 3 ? 576 : 1152
  const bytes = Math.floor((samples * 125 * kilobits) / samplesASecond) + ((rates >> 1) & 1)
  return { bytes, seconds: samples / samplesASecond }
}
