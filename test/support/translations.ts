import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { chatDialect } from '../../src/api/dialects/chat.ts'
import { cohereDialect } from '../../src/api/dialects/cohere.ts'
import { geminiDialect } from '../../src/api/dialects/gemini.ts'
import { messagesDialect } from '../../src/api/dialects/messages.ts'
import { responsesDialect } from '../../src/api/dialects/responses.ts'
import { joinBytes } from '../../src/lib/bytes/bytes.ts'
import { chat } from '../../src/modes/chat.ts'
import { asMode, type ModelRequest } from '../../src/modes/mode.ts'
import type { Usage } from '../../src/modes/usage.ts'
import type { Dialect } from '../../src/pipeline/translate/dialect.ts'
import { type Translator, translatorOf } from '../../src/pipeline/translate/translator.ts'
import type { Notes, Outgoing } from '../../src/providers/provider.ts'
import { wholeBody } from '../../src/transport/whole-body.ts'
import { awsEvent } from './aws-events.ts'
import { deploymentOf } from './deployment-of.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a client sends and what the provider is asked; what the provider says and what the client hears. The members of a
 *  case stand in the place of those of its file; one that is null is not there. */
export interface Case {
  readonly name: string
  /** Where the vendor publishes what is expected, if it is not said for the whole file. */
  readonly source?: string
  /** `kind/model`, of the case or of its file. */
  readonly model?: string
  readonly sends?: Fields
  readonly asks?: Fields
  /** The fields that the answer names as left out. */
  readonly drops?: readonly string[]
  /** The field that a refusal names. */
  readonly refuses?: string
  /** A whole answer, or the events of a stream. */
  readonly says?: Fields | readonly Fields[]
  readonly hears?: Fields | readonly Fields[]
  /** The name of the failure that an answer is. */
  readonly fails?: string
  /** What is billed. */
  readonly bills?: Partial<Usage>
}

export interface CaseFile extends Omit<Case, 'name' | 'says' | 'hears'> {
  readonly says?: Fields
  readonly hears?: Fields
  /** Events before and behind those of a case. */
  readonly around?: { readonly says?: readonly (readonly Fields[])[]; readonly hears?: readonly (readonly Fields[])[] }
  /** The events of the client's that are looked at; all, if it is left out. */
  readonly only?: readonly string[]
  readonly cases: readonly Case[]
}

const FOLDER = new URL('../fixtures/translations/', import.meta.url)
const DIALECTS: Readonly<Record<string, Dialect>> = {
  chat: chatDialect,
  cohere: cohereDialect,
  gemini: geminiDialect,
  messages: messagesDialect,
  responses: responsesDialect,
}
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The files of all pairs: `<dialect>-<provider>/<topic>.yaml`. */
export function caseFiles(): (readonly [string, CaseFile])[] {
  return readdirSync(FOLDER).flatMap((pair) =>
    readdirSync(new URL(`${pair}/`, FOLDER)).map((topic) => {
      const read = parse(readFileSync(new URL(`${pair}/${topic}`, FOLDER), 'utf8')) as CaseFile
      return [`${pair}/${topic}`, read] as const
    }),
  )
}

interface Call {
  readonly dialect: Dialect
  readonly translator: Translator
  readonly outgoing: Outgoing
  readonly notes: Notes
  readonly deployment: ReturnType<typeof deploymentOf>
}

/** A call of a case: its request as the client sends it. */
export function callOf(
  place: string,
  file: CaseFile,
  { model = file.model ?? '', sends }: Case,
  streamed: boolean,
): Call {
  const dialect = DIALECTS[place.split('-', 1)[0] as string]
  const deployment = deploymentOf(model)
  const translator = dialect && translatorOf(deployment, asMode(chat), dialect)
  if (!dialect || !translator) throw new RangeError(`${place} has no translation to ${model}`)
  const request = present({ model: 'public', ...file.sends, ...sends, ...(streamed ? { stream: true } : {}) })
  const bytes = encoder.encode(JSON.stringify(request))
  const body = dialect.schema().parse(request) as ModelRequest
  const notes: Notes = { dropped: undefined }
  return {
    dialect,
    translator,
    deployment,
    notes,
    outgoing: { body, bytes, streamed, notes },
  }
}

/** What the provider is asked. Throws the refusal. */
export async function asked({ translator, outgoing, deployment }: Call): Promise<unknown> {
  const refusal = translator.refuses?.(outgoing.body)
  if (refusal) throw refusal
  const { body } = await translator.request(outgoing, deployment.connection)
  const whole = wholeBody(body)
  return JSON.parse(typeof whole === 'string' ? whole : decoder.decode(whole))
}

/** The whole answer that the client hears, and its usage. */
export function heard({ translator, outgoing }: Call, says: Fields) {
  const { bytes, usage } = translator.reply(encoder.encode(JSON.stringify(says)), {}, outgoing)
  return { answer: JSON.parse(decoder.decode(bytes)) as Fields, usage }
}

/** The events that the client hears of a stream that comes in pieces of so many bytes. */
export function heardEvents({ translator, outgoing }: Call, stream: Uint8Array, size: number) {
  const reader = translator.stream?.(outgoing, {})
  if (!reader) throw new TypeError('no stream')
  const out: Uint8Array[] = []
  let usage: Usage | undefined
  let done = false
  for (let at = 0; at < stream.byteLength && !done; at += size) {
    for (const step of reader.push(stream.subarray(at, at + size))) {
      if (step.failure) throw step.failure
      if (step.out) out.push(step.out)
      usage = step.usage ?? usage
      done ||= step.done === true
    }
  }
  if (!done) out.push(reader.closing())
  const data = decoder
    .decode(joinBytes(out))
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data: ') && line !== 'data: [DONE]' ? [line.slice(6)] : []))
  return { events: data.map((one) => JSON.parse(one) as Fields), usage }
}

/** Events as the provider of a model writes them. */
export function written(model: string, events: readonly Fields[]): Uint8Array {
  if (model.startsWith('bedrock/')) {
    return joinBytes(
      events.flatMap((event) => Object.entries(event).map(([name, one]) => awsEvent(name, one as object))),
    )
  }
  const named = model.startsWith('anthropic/') || model.startsWith('cohere/')
  const text = events.map((event) => `${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  const isChat = !named && !model.startsWith('gemini/')
  return encoder.encode(text.join('') + (isChat ? 'data: [DONE]\n\n' : ''))
}

/** The fields that are there: null leaves one out. */
export function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** An expectation as it is written: `*` is anything, `<null>` is null, and a text behind `~` a pattern. `partly`: objects may have more
 *  members. */
export function matching(value: unknown, partly: boolean): unknown {
  if (value === '*') return expect.anything()
  if (value === '<null>') return null
  if (typeof value === 'string' && value.startsWith('~')) return expect.stringMatching(value.slice(1))
  if (Array.isArray(value)) return value.map((one) => matching(one, partly))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, matching(one, partly)]))
  return partly ? expect.objectContaining(members) : members
}
