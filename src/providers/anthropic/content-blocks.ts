import { asRecord, asText, entryOf, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import { decodedText } from '../wire/decoded-text.ts'
import { unsupported } from '../wire/unsupported-fields.ts'

const API = 'the Messages API'

/** The content of a message as blocks; `at` is its path in a refusal. Blank text, which the API refuses, is left out. */
export function contentBlocks(content: unknown, at: string): JsonRecord[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unsupported(at, API)
  return content.flatMap((part: unknown, index) => partBlocks(asRecord(part), `${at}.${index}`))
}

/** A block with the vendor's cache mark, which ends what is cached. */
export function cachedBlock(block: JsonRecord, control: unknown): JsonRecord {
  return isRecord(control) ? { ...block, cache_control: control } : block
}

/** The vendor's own blocks, which are accepted among the parts of a message. */
const OWN = new Set(['image', 'document', 'search_result', 'thinking', 'redacted_thinking'])

function partBlocks(part: JsonRecord, at: string): JsonRecord[] {
  const type = asText(part.type)
  if (OWN.has(type)) return [part]
  const block = entryOf(PARTS, type)?.(part, at)
  if (!block) throw unsupported(`${at}.type`, API)
  if (block.type === 'text' && asText(block.text).trim() === '') return []
  return [cachedBlock(block, part.cache_control)]
}

const PARTS: Readonly<Record<string, (part: JsonRecord, at: string) => JsonRecord>> = {
  text: ({ text }) => ({ type: 'text', text: asText(text) }),
  refusal: ({ refusal }) => ({ type: 'text', text: asText(refusal) }),
  // `detail` is dropped: this vendor chooses the resolution itself.
  image_url({ image_url }, at) {
    const url = asText(asRecord(image_url).url) || asText(image_url)
    return { type: 'image', source: sourceOf(url, `${at}.image_url`) }
  },
  file({ file }, at) {
    const { file_data, file_id, filename } = asRecord(file)
    if (/^https?:\/\//i.test(asText(file_id))) {
      return { type: 'document', source: { type: 'url', url: file_id }, ...titleOf(filename) }
    }
    // The id of a file that another vendor stores is unknown here.
    if (asText(file_data) === '') throw unsupported(`${at}.file`, API, 'Send the file itself in file_data.')
    const source = sourceOf(asText(file_data), `${at}.file.file_data`)
    if (asText(source.media_type).startsWith('image/')) return { type: 'image', source }
    return { type: 'document', source: documentSource(source, `${at}.file.file_data`), ...titleOf(filename) }
  },
}

function titleOf(filename: unknown): JsonRecord {
  return asText(filename) === '' ? {} : { title: filename }
}

/** `data:` with base64, or an address that the vendor fetches. */
function sourceOf(url: string, at: string): JsonRecord {
  if (/^https?:\/\//i.test(url)) return { type: 'url', url }
  const head = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^,;]*)*;base64,/i.exec(url)
  if (!head) throw unsupported(at, API, 'Send an https: address, or a data: address with base64.')
  const mediaType = (head[1] as string).toLowerCase()
  return {
    type: 'base64',
    media_type: mediaType === 'image/jpg' ? 'image/jpeg' : mediaType,
    data: url.slice(head[0].length),
  }
}

/** Documents are PDF, or text that is sent as text. */
function documentSource(source: JsonRecord, at: string): JsonRecord {
  const mediaType = asText(source.media_type)
  if (source.type === 'url' || mediaType === 'application/pdf') return source
  if (!mediaType.startsWith('text/')) throw unsupported(at, API, 'Send a PDF, an image or text.')
  const data = decodedText(asText(source.data))
  if (data === undefined) throw unsupported(at, API, 'Send valid base64 of UTF-8 text.')
  return { type: 'text', media_type: 'text/plain', data }
}
