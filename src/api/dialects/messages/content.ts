import { base64Text } from '../../../lib/bytes/base64.ts'
import { asRecord, asText, entryOf, isRecord, type JsonRecord } from '../../../lib/json/lenient.ts'
import { inexpressible } from '../inexpressible.ts'

/** Text, pictures and documents as parts of a chat message. `at` names them in a refusal. */
export function chatParts(content: unknown, at: string): JsonRecord[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return blocksOf(content).map((block, index) => chatPart(block, `${at}.${index}`))
}

export function blocksOf(content: unknown): readonly JsonRecord[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.map(asRecord) : []
}

/** Parts as content in the simplest form: a single text without cache_control becomes a string. */
export function asContent(parts: readonly JsonRecord[]): string | readonly JsonRecord[] {
  const [only] = parts
  if (parts.length === 0) return ''
  return only && parts.length === 1 && only.type === 'text' && !only.cache_control ? asText(only.text) : parts
}

export function chatPart(block: JsonRecord, at: string): JsonRecord {
  const part = entryOf(PARTS, block.type)?.(block, at)
  if (!part)
    throw inexpressible(`${at}.type`, `'${at}': this deployment cannot take a block of type '${asText(block.type)}'.`)
  return isRecord(block.cache_control) ? { ...part, cache_control: block.cache_control } : part
}

const PARTS: Readonly<Record<string, (block: JsonRecord, at: string) => JsonRecord>> = {
  text: ({ text }) => ({ type: 'text', text: asText(text) }),
  image: ({ source }, at) => ({ type: 'image_url', image_url: { url: addressOf(asRecord(source), `${at}.source`) } }),
  // A tool search has found it: all tools were sent along.
  tool_reference: ({ tool_name }) => ({ type: 'text', text: `The tool ${asText(tool_name)} is available now.` }),
  search_result({ source, title, content, citations }, at) {
    refuseCitations(citations, at)
    const text = blocksOf(content).map((block) => asText(block.text))
    return { type: 'text', text: [asText(title), asText(source), ...text].filter((line) => line !== '').join('\n') }
  },
  document({ source, title, context, citations }, at) {
    if (context) throw inexpressible(`${at}.context`, `'${at}.context': only a provider of this dialect knows it.`)
    refuseCitations(citations, at)
    const name = asText(title)
    const { type, url } = asRecord(source)
    if (type === 'url') return { type: 'file', file: { file_id: url, ...(name === '' ? {} : { filename: name }) } }
    return { type: 'file', file: { filename: name || 'document', file_data: dataOf(source, `${at}.source`) } }
  },
}

function refuseCitations(citations: unknown, at: string): void {
  if (asRecord(citations).enabled !== true) return
  throw inexpressible(`${at}.citations`, `'${at}.citations': only a provider of this dialect can cite.`)
}

function addressOf(source: JsonRecord, at: string): string {
  if (source.type === 'base64') return `data:${source.media_type};base64,${source.data}`
  if (source.type === 'url') return asText(source.url)
  throw inexpressible(at, `'${at}': send the bytes in base64, or an address.`)
}

function dataOf(value: unknown, at: string): string {
  const source = asRecord(value)
  if (source.type === 'base64') return `data:${source.media_type};base64,${source.data}`
  if (source.type === 'text') return plainText(asText(source.data))
  const blocks = source.type === 'content' ? blocksOf(source.content) : []
  if (blocks.length > 0 && blocks.every(({ type }) => type === 'text')) {
    return plainText(blocks.map(({ text }) => asText(text)).join('\n'))
  }
  throw inexpressible(at, `'${at}': send the bytes in base64, text, or an address.`)
}

const plainText = (text: string) => `data:text/plain;base64,${base64Text(new TextEncoder().encode(text))}`
