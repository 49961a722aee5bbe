import { asRecord, asText, entryOf, type JsonRecord } from '../../lib/json/lenient.ts'
import { unsupported } from '../wire/unsupported-fields.ts'
import { CONVERSE } from './converse-name.ts'

/** Converse's formats of media types whose subtype differs. */
const FORMATS: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'image/jpg': 'jpeg',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/3gpp': 'three_gp',
}

/** A part of a message other than text. Converse accepts bytes or an object of S3, and fetches no addresses. */
export function mediaBlock(part: JsonRecord, at: string, index: number): JsonRecord {
  if (part.type === 'image_url') {
    const url = asText(asRecord(part.image_url).url) || asText(part.image_url)
    const { format, source } = sourceOf(url, `${at}.image_url`)
    return { image: { format, source } }
  }
  if (part.type === 'video_url') {
    const { format, source } = sourceOf(asText(asRecord(part.video_url).url), `${at}.video_url`)
    return { video: { format, source } }
  }
  if (part.type === 'file') {
    const { file_data, filename } = asRecord(part.file)
    const { format, source } = sourceOf(asText(file_data), `${at}.file`)
    return { document: { format, name: documentName(asText(filename), index), source } }
  }
  if (part.type === 'input_audio') {
    const { data, format } = asRecord(part.input_audio)
    return { audio: { format, source: { bytes: data } } }
  }
  throw unsupported(`${at}.type`, CONVERSE)
}

function sourceOf(url: string, at: string): { readonly format: string; readonly source: JsonRecord } {
  const data = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,;]*)*;base64,/.exec(url)
  if (data) {
    const mediaType = (data[1] as string).toLowerCase()
    const format = entryOf(FORMATS, mediaType) ?? (mediaType.split('/')[1] as string)
    return { format, source: { bytes: url.slice(data[0].length) } }
  }
  const stored = /^s3:\/\/.+\.(\w+)$/.exec(url)
  if (!stored) throw unsupported(at, CONVERSE, 'Send the bytes, as a data: address with base64.')
  const extension = (stored[1] as string).toLowerCase()
  return { format: extension === 'jpg' ? 'jpeg' : extension, source: { s3Location: { uri: url } } }
}

/** Converse allows letters, digits, single spaces, hyphens, parentheses and brackets. */
function documentName(filename: string, index: number): string {
  const name = filename
    .replace(/\.\w+$/, '')
    .replace(/[^a-zA-Z0-9\-()[\] ]/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return name === '' ? `document ${index + 1}` : name
}
