import { asText, entryOf } from '../../../lib/json/lenient.ts'
import { inexpressible } from '../inexpressible.ts'

export type Part = Readonly<Record<string, unknown>>

/** The content of a message or a tool's output as chat's content: a string stays a string, parts become chat's
 *  parts. */
export function chatContent(content: unknown, param: string): unknown {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw inexpressible(param, `'${param}' must be a string or a list of parts.`)
  const parts = content.map((part, index) => chatPart(part, `${param}.${index}`))
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? only.text : parts
}

function chatPart(part: unknown, param: string): Part {
  const { type, ...fields } = (typeof part === 'object' && part !== null ? part : {}) as Part
  const write = entryOf(PARTS, type)
  if (!write) {
    throw inexpressible(`${param}.type`, `Content of type '${asText(type)}' is not supported at '${param}'.`)
  }
  return write(fields, param)
}

const PARTS: Readonly<Record<string, (fields: Part, param: string) => Part>> = {
  input_text: text,
  output_text: text,
  text,
  refusal: ({ refusal }) => ({ type: 'refusal', refusal: textual(refusal) }),
  input_image({ image_url, file_id, detail }, param) {
    if (file_id !== undefined && file_id !== null) throw stored(`${param}.file_id`, 'image_url')
    return { type: 'image_url', image_url: { url: textual(image_url), ...known({ detail }) } }
  },
  input_file({ file_data, filename, file_id, file_url }, param) {
    if (typeof file_url === 'string') return { type: 'file', file: known({ file_id: file_url, filename }) }
    if (file_id !== undefined && file_id !== null) throw stored(`${param}.file_id`, 'file_data')
    return { type: 'file', file: known({ file_data, filename }) }
  },
  input_audio: ({ input_audio }) => ({ type: 'input_audio', input_audio }),
}

function text({ text: value }: Part): Part {
  return { type: 'text', text: textual(value) }
}

function stored(param: string, instead: string): Error {
  return inexpressible(param, `'${param}' names a file that this model's provider does not hold; send '${instead}'.`)
}

function textual(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The fields without members that are undefined or null. */
export function known(fields: Part): Part {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}
