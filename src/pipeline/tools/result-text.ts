import { asRecord, asText, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ToolContent, ToolResult } from '../../mcp/tool-servers.ts'
import type { ToolImage } from './tool-conversation.ts'

export interface ReadResult {
  readonly text: string
  readonly images: readonly ToolImage[]
}

const encoder = new TextEncoder()

/** A tool's result as text and images, together at most so many bytes. What is cut or left out is named in the text. */
export function readResult({ content, structuredContent, isError }: ToolResult, mostBytes: number): ReadResult {
  const images: ToolImage[] = []
  let imageBytes = 0
  const image = (mimeType: unknown, data: unknown): string => {
    const mediaType = asText(mimeType)
    const bytes = decodedBytes(asText(data))
    if (!/^image\/[\w.+-]+$/i.test(mediaType) || bytes === 0) return '[An image that cannot be read.]'
    if (imageBytes + bytes > mostBytes) {
      return `[An image (${mediaType}) of ${bytes} bytes was left out: a result may have at most ${mostBytes}.]`
    }
    imageBytes += bytes
    images.push({ mediaType, data: asText(data) })
    return `[An image (${mediaType}) belongs to this result.]`
  }
  const lines = content.map((block) => textOf(block, image))
  if (content.length === 0 && structuredContent !== undefined) lines.push(JSON.stringify(structuredContent))
  const text = lines.join('\n')
  if (text === '') return { text: isError ? 'The tool reported an error without a text.' : NOTHING, images }
  return { text: bounded(text, mostBytes - imageBytes), images }
}

const NOTHING = 'The tool returned nothing.'

type ImageReader = (mimeType: unknown, data: unknown) => string

function textOf(block: ToolContent, image: ImageReader): string {
  switch (block.type) {
    case 'text':
      return asText(block.text)
    case 'image':
      return image(block.mimeType, block.data)
    case 'audio':
      return `[A recording (${asText(block.mimeType)}) of ${decodedBytes(asText(block.data))} bytes, which cannot be passed on.]`
    case 'resource_link':
      return [`[${asText(block.title) || asText(block.name)}: ${asText(block.uri)}]`, asText(block.description)]
        .filter((line) => line !== '')
        .join('\n')
    case 'resource':
      return resourceText(asRecord(block.resource), image)
    default:
      return JSON.stringify(block)
  }
}

function resourceText({ uri, mimeType, text, blob }: JsonRecord, image: ImageReader): string {
  if (typeof text === 'string') return text
  if (asText(mimeType).startsWith('image/')) return image(mimeType, blob)
  return `[${asText(uri)} (${asText(mimeType)}), ${decodedBytes(asText(blob))} bytes, which cannot be passed on.]`
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.floor(((base64.length - padding) * 3) / 4)
}

/** The text, cut at a character if it is too long, with a sentence that says so. */
function bounded(text: string, mostBytes: number): string {
  // No character is less than a byte.
  const { byteLength } = text.length > mostBytes ? { byteLength: text.length } : encoder.encode(text)
  if (byteLength <= mostBytes) return text
  const sentence = `\n[The result was cut here: at most ${mostBytes} bytes are passed on.]`
  const into = new Uint8Array(Math.max(0, mostBytes - sentence.length))
  const { read } = encoder.encodeInto(text, into)
  return text.slice(0, read) + sentence
}
