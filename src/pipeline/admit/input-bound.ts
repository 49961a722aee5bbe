import { textBytes } from '../../lib/bytes/text-bytes.ts'
import { eitherCase } from '../../lib/json/camel-case.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import type { CallInput } from '../call-input.ts'
import type { Dialect } from '../translate/dialect.ts'

/** Bounds on the input that a model reads for a request. */
export interface InputBound {
  readonly tokens: number
  /** The probable number of tokens. */
  readonly likely: number
  /** The request references content whose length is unknown here. */
  readonly pointsElsewhere: boolean
  /** Some of the input is audio. */
  readonly hasSound: boolean
  /** Some of the input is an image. */
  readonly hasImage: boolean
  /** The time to live of the prompt cache, if the request asks for one: `1h` is an hour or longer. */
  readonly cached: '5m' | '1h' | undefined
}

/** The tokens of an image, at the vendors that count most. */
const IMAGE_TOKENS = 5000
/** The tokens of an image at most vendors. */
const USUAL_IMAGE_TOKENS = 1000
/** Base64 characters per token of audio, video and documents, at usual compression. */
const USUAL_LETTERS_A_FILE_TOKEN = 100
/** The usual tokens of referenced content of unknown length. */
const USUAL_ELSEWHERE_TOKENS = 2000
/** The fewest base64 characters per token of audio or video, however well it is compressed. */
const LETTERS_A_SOUND_TOKEN = 16
/** Base64 characters per token of an encoded document. */
const LETTERS_A_DOCUMENT_TOKEN = 4
/** The tokens of the vendor's own instructions on tools. */
const TOOLS_TOKENS = 1000
/** Smaller files are counted as text. */
const LARGE = 4096
/** The longest id or internal address of a vendor. */
const LONGEST_NAME = 512
/** Bodies of this size are parsed lazily. */
const UNBUILT_BYTES = 131_072

/** The times to live at the dearer price of a write. */
const LONG_LIVES: ReadonlySet<unknown> = new Set(['1h', '12h'])

const IMAGES = new Set(['image_url', 'input_image', 'image', 'computer_screenshot', 'image_generation_call'])
const SOUNDS = new Set(['input_audio', 'audio', 'audio_url', 'input_video', 'video', 'video_url'])
const DOCUMENTS = new Set(['file', 'input_file', 'document'])
/** Members of a request that hold a conversation. */
const CONVERSATIONS = ['messages', 'input', 'system', 'contents'] as const
/** Members that hold nested items. */
const NESTED = ['content', 'output', 'source', 'parts', 'functionResponse', 'function_response']
/** Tools that the vendor runs, whose results the model then reads. */
const HOSTED = /search|fetch|mcp|code_|shell|urlContext|url_context|retrieval|googleMaps|google_maps/i
/** Members that reference content which the vendor keeps or finds. */
const POINTERS = [
  ...['previous_response_id', 'conversation', 'container', 'web_search_options', 'mcp_servers'],
  ...['cached_content', 'cachedContent'],
]

/** The most input tokens that a model may read for a request. No tokenizer makes more than one token of a byte. A file
 *  counts as vendors count it, but only where it stands as a file: text that looks like one stays text. */
export function inputBound({ bytes, endpoint: { dialect } }: Input, request: ModelRequest): InputBound {
  const { byteLength } = bytes
  const likely = tokensOfCharacters(textBytes(bytes))
  const text = { tokens: byteLength, likely, pointsElsewhere: false, hasSound: false, hasImage: false }
  if (!dialect) return { ...text, cached: undefined }
  const points = pointsElsewhere(request, dialect)
  // A long conversation without a file is not parsed just to be inspected.
  if (byteLength >= UNBUILT_BYTES && textBytes(bytes) === byteLength) {
    return { ...text, pointsElsewhere: points, cached: '1h' }
  }
  const found: Found = {
    letters: 0,
    tokens: 0,
    usual: 0,
    pointsElsewhere: points,
    hasSound: false,
    hasImage: false,
    cached: undefined,
  }
  try {
    noteCache(request.cache_control, found)
    noteCache(request.prompt_cache_options, found)
    for (const field of CONVERSATIONS) lookAtAll(request[field], found)
    lookAtAll(asRecord(eitherCase(request, 'generateContentRequest')).contents, found)
    lookAtTools(request.tools, found)
  } catch {
    // The upstream will report what is wrong with the body.
    return { ...text, hasSound: true, hasImage: true, cached: '1h' }
  }
  const elsewhere = found.pointsElsewhere ? USUAL_ELSEWHERE_TOKENS : 0
  return {
    tokens: byteLength - found.letters + found.tokens,
    likely: tokensOfCharacters(byteLength - found.letters) + Math.ceil(found.usual) + elsewhere,
    pointsElsewhere: found.pointsElsewhere,
    hasSound: found.hasSound,
    hasImage: found.hasImage,
    cached: found.cached,
  }
}

function pointsElsewhere(request: ModelRequest, { native }: Dialect): boolean {
  if (native === 'responses' && isRecord(request.prompt)) return true
  return POINTERS.some((field) => isSet(request[field]))
}

type Input = Pick<CallInput, 'endpoint' | 'bytes'>

interface Found {
  /** The characters of the body that are files. */
  letters: number
  /** The tokens that they count as, at most and usually. */
  tokens: number
  usual: number
  pointsElsewhere: boolean
  hasSound: boolean
  hasImage: boolean
  cached: InputBound['cached']
}

/** Conversations nest turns, parts, and the parts of tool results. */
const MOST_DEPTH = 6

function lookAtAll(list: unknown, found: Found, depth = 0): void {
  if (!Array.isArray(list) || depth > MOST_DEPTH) return
  for (const item of list) if (isRecord(item)) lookAt(item, found, depth)
}

/** Whether a turn holds nothing but texts, as most do: its role and what was said. */
function isOfTexts(item: JsonRecord): boolean {
  for (const name in item) if (name === 'type' || typeof item[name] !== 'string') return false
  return true
}

function lookAt(item: JsonRecord, found: Found, depth: number): void {
  if (isOfTexts(item)) return
  const type = item.type ?? typeOfPart(item)
  noteCache(item.cache_control, found)
  noteCache(item.prompt_cache_breakpoint, found)
  if (IMAGES.has(type as string)) {
    found.hasImage = true
    found.tokens += IMAGE_TOKENS
    found.usual += USUAL_IMAGE_TOKENS
    found.letters += fileOf(item).letters
  } else if (SOUNDS.has(type as string)) {
    const { letters, inside } = fileOf(item)
    found.hasSound = true
    found.letters += letters
    found.tokens += Math.ceil(letters / LETTERS_A_SOUND_TOKEN)
    found.usual += letters / USUAL_LETTERS_A_FILE_TOKEN
    if (!inside) found.pointsElsewhere = true
  } else if (DOCUMENTS.has(type as string) && !isText(item)) {
    const { letters, inside } = fileOf(item)
    found.letters += letters
    found.tokens += Math.ceil(letters / LETTERS_A_DOCUMENT_TOKEN)
    found.usual += letters / USUAL_LETTERS_A_FILE_TOKEN
    if (!inside) found.pointsElsewhere = true
  } else if (type === 'item_reference') found.pointsElsewhere = true
  for (const member of NESTED) {
    const inner = item[member]
    if (isRecord(inner)) {
      // A screenshot for the model, or the parts of a document.
      if (member === 'output') lookAt(inner, found, depth + 1)
      else lookAtAll(inner.content ?? inner.parts, found, depth + 1)
    } else lookAtAll(inner, found, depth + 1)
  }
}

/** The type of a file in a part of Gemini's API. */
function typeOfPart(part: JsonRecord): string | undefined {
  const file = eitherCase(part, 'inlineData') ?? eitherCase(part, 'fileData')
  if (!isRecord(file)) return undefined
  const kind = asText(eitherCase(file, 'mimeType')).split('/')[0]
  if (kind === 'text') return undefined
  return kind === 'image' ? 'image' : kind === 'audio' || kind === 'video' ? 'audio' : 'document'
}

/** The file in an item: its longest string, directly or in one of its members. A short string only names a file. */
function fileOf(item: JsonRecord): { readonly letters: number; readonly inside: boolean } {
  let letters = 0
  let inside = false
  const consider = (value: unknown) => {
    if (typeof value !== 'string') return
    if (value.length >= LARGE) letters = Math.max(letters, value.length)
    inside ||= value.startsWith('data:') || (value.length > LONGEST_NAME && !/^https?:/.test(value))
  }
  for (const value of Object.values(item)) {
    consider(value)
    if (isRecord(value)) for (const inner of Object.values(value)) consider(inner)
  }
  return { letters, inside }
}

/** A document whose content is plain text. */
function isText(item: JsonRecord): boolean {
  const source = asRecord(item.source)
  if (source.type === 'text' || source.type === 'content') return true
  const kind = asText(source.media_type) || dataType(item.file_data) || dataType(asRecord(item.file).file_data)
  return kind.startsWith('text/') || /json|xml|csv/.test(kind)
}

const dataType = (value: unknown) => /^data:([^;,]{0,100})/.exec(asText(value))?.[1] ?? ''

function lookAtTools(tools: unknown, found: Found): void {
  const list = asList(tools).map(asRecord)
  if (list.length > 0) found.tokens += TOOLS_TOKENS
  for (const tool of list) {
    noteCache(tool.cache_control, found)
    // Tools of Gemini's API are named by their members.
    const named = tool.type === undefined ? Object.keys(tool).join(' ') : asText(tool.type)
    if (HOSTED.test(named)) found.pointsElsewhere = true
  }
}

function noteCache(mark: unknown, found: Found): void {
  if (!isRecord(mark)) return
  found.cached = LONG_LIVES.has(mark.ttl) ? '1h' : (found.cached ?? '5m')
}

const isSet = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
