import { textBytes } from '../../lib/bytes/text-bytes.ts'
import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import { tokensOfCharacters } from '../../modes/usage.ts'
import type { CallInput } from '../call-input.ts'
import type { Dialect } from '../translate/dialect.ts'

/** How much a model may have to read for a request. */
export interface InputBound {
  readonly tokens: number
  /** How much it probably is. */
  readonly likely: number
  /** It goes on from, or points to, something whose length nobody knows here. */
  readonly pointsElsewhere: boolean
  /** A part of it is heard. */
  readonly hasSound: boolean
  /** It asks its vendor to keep what is read, and for how long. */
  readonly cached: '5m' | '1h' | undefined
}

/** A picture, at the vendors that cut it into most pieces. */
const IMAGE_TOKENS = 5000
/** The same at most of them. */
const USUAL_IMAGE_TOKENS = 1000
/** Of sound, film and documents, as they are mostly packed. */
const USUAL_LETTERS_A_FILE_TOKEN = 100
/** What is kept, found or stored elsewhere, where nobody here has seen it. */
const USUAL_ELSEWHERE_TOKENS = 2000
/** Each token of sound or film takes at least so many letters, however tightly it is packed. */
const LETTERS_A_SOUND_TOKEN = 16
/** Of a document that is not read as it stands. */
const LETTERS_A_DOCUMENT_TOKEN = 4
/** What vendors tell a model about using tools. */
const TOOLS_TOKENS = 1000
/** A file of fewer letters is not worth telling from text. */
const LARGE = 4096
/** Of an id, or an address inside a vendor. */
const LONGEST_NAME = 512
/** Bodies from here on are not built before somebody reads them. */
const UNBUILT_BYTES = 131_072

const IMAGES = new Set(['image_url', 'input_image', 'image', 'computer_screenshot', 'image_generation_call'])
const SOUNDS = new Set(['input_audio', 'audio', 'audio_url', 'input_video', 'video', 'video_url'])
const DOCUMENTS = new Set(['file', 'input_file', 'document'])
/** Items whose parts are items again, by the member that holds them. */
const NESTED = ['content', 'output', 'source']
/** Tools that a vendor runs itself, and whose results the model then reads. */
const HOSTED = /search|fetch|mcp|code_|shell/
/** Members of a request that point to what a vendor keeps, or finds. */
const POINTERS = ['previous_response_id', 'conversation', 'container', 'web_search_options', 'mcp_servers']

/** The most tokens that a model may have to read for a request. No tokenizer makes more than one of a byte; a file counts
 *  for what vendors make of it, and only where it stands as one: text is text, however it looks. */
export function inputBound({ bytes, endpoint: { dialect } }: Input, request: ModelRequest): InputBound {
  const { byteLength } = bytes
  const likely = tokensOfCharacters(textBytes(bytes))
  const text = { tokens: byteLength, likely, pointsElsewhere: false, hasSound: false }
  if (!dialect) return { ...text, cached: undefined }
  const points = pointsElsewhere(request, dialect)
  // A long conversation without a file in it is not built only to be looked at.
  if (byteLength >= UNBUILT_BYTES && textBytes(bytes) === byteLength) {
    return { ...text, pointsElsewhere: points, cached: '1h' }
  }
  const found: Found = {
    letters: 0,
    tokens: 0,
    usual: 0,
    pointsElsewhere: points,
    hasSound: false,
    cached: undefined,
  }
  try {
    noteCache(request.cache_control, found)
    for (const field of ['messages', 'input', 'system'] as const) lookAtAll(request[field], found)
    lookAtTools(request.tools, found)
  } catch {
    // Whoever has to read it will say what is wrong with it.
    return { ...text, hasSound: true, cached: '1h' }
  }
  const { letters, tokens, usual, ...rest } = found
  const elsewhere = rest.pointsElsewhere ? USUAL_ELSEWHERE_TOKENS : 0
  return {
    tokens: byteLength - letters + tokens,
    likely: tokensOfCharacters(byteLength - letters) + Math.ceil(usual) + elsewhere,
    ...rest,
  }
}

function pointsElsewhere(request: ModelRequest, { native }: Dialect): boolean {
  if (native === 'responses' && isRecord(request.prompt)) return true
  return POINTERS.some((field) => isSet(request[field]))
}

type Input = Pick<CallInput, 'endpoint' | 'bytes'>

interface Found {
  /** Of the body, those that are no text. */
  letters: number
  /** What they are read for, at most and usually. */
  tokens: number
  usual: number
  pointsElsewhere: boolean
  hasSound: boolean
  cached: InputBound['cached']
}

/** Conversations hold turns, turns parts, and results of tools parts again. */
const MOST_DEPTH = 6

function lookAtAll(list: unknown, found: Found, depth = 0): void {
  if (!Array.isArray(list) || depth > MOST_DEPTH) return
  for (const item of list) if (isRecord(item)) lookAt(item, found, depth)
}

function lookAt(item: JsonRecord, found: Found, depth: number): void {
  const { type } = item
  noteCache(item.cache_control, found)
  if (IMAGES.has(type as string)) {
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
      // A screen that a model is shown, or what a document is made of.
      if (member === 'output') lookAt(inner, found, depth + 1)
      else lookAtAll(inner.content, found, depth + 1)
    } else lookAtAll(inner, found, depth + 1)
  }
}

/** The file that an item holds: its longest text, directly or in one of its members. What is short only names one. */
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

/** A document that is read as it stands. */
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
  for (const { type, cache_control } of list) {
    noteCache(cache_control, found)
    if (HOSTED.test(asText(type))) found.pointsElsewhere = true
  }
}

function noteCache(mark: unknown, found: Found): void {
  if (!isRecord(mark)) return
  found.cached = mark.ttl === '1h' ? '1h' : (found.cached ?? '5m')
}

const isSet = (value: unknown) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
