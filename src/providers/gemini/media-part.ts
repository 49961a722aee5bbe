import { asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { GEMINI } from './api-name.ts'

export type Part = JsonRecord

const DATA_ADDRESS = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i
const STORED = /^(https?|gs):\/\//i

/** Media types by file extension. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  m4a: 'audio/m4a',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
}

/** Translates one part of a message to Gemini. `at` is its path in the request, for a refusal. */
export function partOf(value: unknown, at: string): Part {
  const part = asRecord(value)
  const translate = entryOf(TRANSLATIONS, part.type)
  if (!translate) throw unsupported(`${at}.type`, GEMINI)
  return translate(part, at)
}

// `detail` of an image is dropped: the model chooses the resolution.
const TRANSLATIONS: Readonly<Record<string, (part: JsonRecord, at: string) => Part>> = {
  text: (part) => ({ text: asText(part.text) }),
  refusal: (part) => ({ text: asText(part.refusal) }),
  image_url: (part, at) => media(addressOf(part.image_url), `${at}.image_url`),
  video_url: (part, at) => media(addressOf(part.video_url), `${at}.video_url`),
  input_audio(part) {
    const { data, format } = asRecord(part.input_audio)
    return { inlineData: { mimeType: entryOf(TYPES, format) ?? `audio/${asText(format)}`, data: asText(data) } }
  },
  file(part, at) {
    const { file_data, file_id, filename } = asRecord(part.file)
    if (typeof file_data === 'string') return media(file_data, `${at}.file.file_data`, asText(filename))
    return media(asText(file_id), `${at}.file.file_id`, asText(filename))
  },
}

function addressOf(value: unknown): string {
  return typeof value === 'string' ? value : asText(asRecord(value).url)
}

function media(address: string, at: string, name = ''): Part {
  const inline = DATA_ADDRESS.exec(address)
  if (inline)
    return {
      inlineData: {
        mimeType: inline[1] === 'image/jpg' ? 'image/jpeg' : inline[1],
        data: address.slice(inline[0].length),
      },
    }
  if (!STORED.test(address)) {
    throw unsupported(at, GEMINI, 'Send the bytes as a data: address with base64, or an https: or gs: address.')
  }
  const mimeType = typeByEnding(name) ?? typeByEnding(URL.parse(address)?.pathname ?? '')
  return { fileData: { fileUri: address, ...(mimeType ? { mimeType } : {}) } }
}

/** The media type that the ending of a name stands for. */
export function typeByEnding(name: string): string | undefined {
  return entryOf(TYPES, /\.(\w+)$/.exec(name)?.[1]?.toLowerCase())
}
