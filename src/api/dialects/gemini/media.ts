import { camelCase } from '../../../lib/json/camel-case.ts'
import { asText, entryOf, type JsonRecord } from '../../../lib/json/lenient.ts'
import { inexpressible } from '../inexpressible.ts'

/** The formats of chat for the media types of sounds, where their names differ. */
const SOUNDS: Readonly<Record<string, string>> = {
  'x-wav': 'wav',
  wave: 'wav',
  mpeg: 'mp3',
  'x-m4a': 'm4a',
}
/** Addresses that only Google's models can read. */
const AT_GOOGLE = /^(gs:|https?:\/\/([^/?#]*@)?generativelanguage\.)/i

/** A file inside of a part, as a part of a chat message. */
export function inlinePart(value: unknown, at: string): JsonRecord {
  const { mimeType, data, displayName } = camelCase(value)
  const type = asText(mimeType).toLowerCase()
  if (type === '') throw inexpressible(`${at}.mimeType`, `'${at}.mimeType' is missing.`)
  // Some clients write base64 for addresses.
  const base64 = asText(data).replaceAll('-', '+').replaceAll('_', '/')
  const address = `data:${type};base64,${base64}`
  const [kind, form = ''] = type.split(';', 1).join().split('/')
  if (kind === 'image') return { type: 'image_url', image_url: { url: address } }
  if (kind === 'video') return { type: 'video_url', video_url: { url: address } }
  if (kind === 'audio')
    return { type: 'input_audio', input_audio: { data: base64, format: entryOf(SOUNDS, form) ?? form } }
  return { type: 'file', file: { filename: asText(displayName) || 'document', file_data: address } }
}

/** A file that a part names by its address. */
export function filePart(value: unknown, at: string): JsonRecord {
  const { mimeType, fileUri, displayName } = camelCase(value)
  const address = asText(fileUri)
  if (!/^https?:\/\//i.test(address) || AT_GOOGLE.test(address)) {
    throw inexpressible(
      `${at}.fileUri`,
      `'${at}.fileUri' names a file that only a provider of this dialect can read. Send the bytes, or an address.`,
    )
  }
  const kind = asText(mimeType).toLowerCase().split('/')[0]
  if (kind === 'image') return { type: 'image_url', image_url: { url: address } }
  if (kind === 'video') return { type: 'video_url', video_url: { url: address } }
  const name = asText(displayName)
  return { type: 'file', file: { file_id: address, ...(name === '' ? {} : { filename: name }) } }
}
