import { GatewayError } from '../../lib/errors.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { Mode, ModelRequest } from '../../modes/mode.ts'
import { type Adapter, dropper, type Outgoing, type StreamStep } from '../../providers/provider.ts'
import { FUNCTIONS } from '../../providers/wire/fitting/vendor-words.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Endpoint } from '../endpoint.ts'
import { asChunks, asCompletion } from './chat-bytes.ts'
import { chatOf } from './chat-of.ts'
import { defaultFields } from './default-fields.ts'
import { type Dialect, type DialectStream, namesOf } from './dialect.ts'
import { COMMON, fitted } from './fitting-calls.ts'
import { lacks } from './lacking-capabilities.ts'
import { withLegacyFunctions } from './legacy-functions.ts'
import { withOpenrouterReasoning } from './openrouter-reasoning.ts'
import { refusedHints } from './refused-hints.ts'
import { shaped } from './shaped.ts'
import { asEvents, unstreamed, wholeStream } from './whole-as-stream.ts'
import { atOnce, type OnChunk, type WrittenReader, type WrittenReply, writing, written } from './written-reply.ts'

const encoder = new TextEncoder()

/** An adapter as the pipeline uses it: whatever the vendor speaks, its output is bytes in the client's dialect. */
export interface Translator extends Omit<Adapter, 'reply' | 'stream'> {
  reply(bytes: Uint8Array, headers: Readonly<Record<string, string>>, call: Outgoing): WrittenReply
  /** `onChunk` gets every chunk before it is written, if the answer goes through chat. */
  stream?(call: Outgoing, headers: Readonly<Record<string, string>>, onChunk?: OnChunk): WrittenReader
  /** The provider is asked in chat, whatever the client's dialect. */
  readonly translates?: true
  /** A whole answer as the steps of a stream; absent if it cannot be streamed. */
  wholeAsStream?(bytes: Uint8Array, headers: Readonly<Record<string, string>>, call: Outgoing): StreamStep[]
  /** Why the provider cannot be asked this request; checked before asking. A strict request goes nowhere without its
   *  hints. */
  refuses?(request: ModelRequest, strict?: boolean): GatewayError | undefined
}

/** The translator for this kind of request in this dialect at a deployment; undefined if there is none. */
export function translatorOf(deployment: Deployment, mode: Mode, dialect: Dialect | undefined): Translator | undefined {
  if (!dialect) {
    const own = deployment.adapter(mode.operation ?? mode.name)
    if (own || !mode.shape) return own && plainTranslator(own)
    const usual = deployment.adapter(mode.name)
    const adapter = usual && shaped(usual, mode.shape)
    return adapter && plainTranslator(adapter)
  }
  const native = dialect.native && !lacks(deployment, dialect.native) ? deployment.adapter(dialect.native) : undefined
  if (native) return nativeTranslator(native, dialect, deployment.provider.words?.has(FUNCTIONS) === true)
  const chat = deployment.adapter('chat', mode.name)
  return chat && translated(fitted(chat, COMMON), dialect)
}

/** Cached: each call looks its translators up several times, and native ones hold no state of a call. */
const nativeTranslators = new WeakMap<Adapter, Map<Dialect, Translator>>()

function nativeTranslator(adapter: Adapter, dialect: Dialect, knowsFunctions: boolean): Translator {
  let translators = nativeTranslators.get(adapter)
  if (!translators) {
    translators = new Map()
    nativeTranslators.set(adapter, translators)
  }
  let translator = translators.get(dialect)
  if (!translator) {
    const told = () => withOpenrouterReasoning(knowsFunctions ? fitted(adapter) : withLegacyFunctions(fitted(adapter)))
    translator = dialect.native === 'chat' ? inChat(told(), dialect) : inOwnDialect(adapter, dialect)
    translators.set(dialect, translator)
  }
  return translator
}

/** Why the provider of a deployment cannot be asked a request; undefined if it can. `strict`: the client refuses to have
 *  hints left out. */
export function refusalBy(
  deployment: Deployment,
  { mode, dialect }: Pick<Endpoint, 'mode' | 'dialect'>,
  request: ModelRequest,
  strict = false,
): GatewayError | undefined {
  const isStrict = strict || deployment.connection.parameters.strict === true
  return translatorOf(deployment, mode, dialect)?.refuses?.(request, isStrict)
}

/** Chat at a chat provider: bytes of chat pass unchanged, parsed chunks are written. */
function inChat(adapter: Adapter, dialect: Dialect): Translator {
  const { stream, ...rest } = adapter
  return {
    ...rest,
    reply: (bytes, headers, call) => written(adapter.reply(bytes, headers, call), dialect, call),
    ...(stream
      ? {
          stream: (call, headers, onChunk) => writing(stream(call, headers), dialect.stream(call.body, call), onChunk),
          wholeAsStream: (bytes, headers, call) => [
            atOnce(adapter.reply(bytes, headers, call), dialect.stream(call.body, call)),
          ],
        }
      : {}),
  }
}

/** A dialect at a provider that speaks it: bytes pass unchanged, and are followed if the answer may need a
 *  continuation. */
function inOwnDialect(adapter: Adapter, { follow }: Dialect): Translator {
  const native = plainTranslator(adapter)
  const { stream } = native
  if (!stream || !follow) return native
  return {
    ...native,
    stream(call, headers, onChunk) {
      const reader = stream(call, headers)
      if (!onChunk) return reader
      const follower = follow()
      let dialectStream: DialectStream | undefined
      return {
        ...reader,
        push: (piece) =>
          reader.push(piece).map((step) => {
            if (step.out) for (const chunk of follower.read(step.out)) onChunk(chunk)
            return step
          }),
        write(chunk) {
          dialectStream ??= follower.continuation()
          return dialectStream.write(chunk)
        },
        closing: () => (dialectStream ? dialectStream.close() : reader.closing()),
      }
    },
  }
}

/** A dialect translated through chat. */
function translated(adapter: Adapter, dialect: Dialect): Translator {
  const { stream, again, refused, ...rest } = adapter
  const inChatShape = new WeakMap<ModelRequest, Outgoing>()
  const asChat = (call: Outgoing): Outgoing => {
    let chat = inChatShape.get(call.body)
    if (!chat) {
      const { chat: chatBody, dropped } = chatOf(call.body, dialect)
      for (const field of dropped) dropper(call)(field)
      const body = { ...chatBody, ...defaultFields(call.chatDefaults ?? {}, chatBody) }
      chat = { ...call, translated: true, body, bytes: encoder.encode(JSON.stringify(body)) }
      const clientNames = namesOf(dialect, call.body)
      if (clientNames) chat = { ...chat, clientNames }
      inChatShape.set(call.body, chat)
    }
    return chat
  }
  return {
    ...rest,
    translates: true,
    refuses(request, strict) {
      try {
        const { dropped } = chatOf(request, dialect)
        if (strict && dropped.length > 0) return refusedHints(dropped)
      } catch (error) {
        if (error instanceof GatewayError) return error
        throw error
      }
      return undefined
    },
    request: (call, connection) => adapter.request(asChat(call), connection),
    ...(again ? { again: (failure, call) => again(failure, asChat(call)) } : {}),
    ...(refused ? { refused: (failure, call) => refused(failure, asChat(call)) } : {}),
    reply: (bytes, headers, call) => written(asCompletion(adapter.reply(bytes, headers, asChat(call))), dialect, call),
    ...(stream
      ? {
          stream: (call, headers, onChunk) => {
            const inner = stream(asChat(call), headers)
            return writing(
              { push: (piece) => inner.push(piece).flatMap(asChunks) },
              dialect.stream(call.body, call),
              onChunk,
            )
          },
          wholeAsStream: (bytes, headers, call) => [
            atOnce(adapter.reply(bytes, headers, asChat(call)), dialect.stream(call.body, call)),
          ],
        }
      : {}),
  }
}

const plainTranslators = new WeakMap<Adapter, Translator>()

/** An adapter whose bytes pass unchanged. */
function plainTranslator(adapter: Adapter): Translator {
  const native = adapter as Translator
  const { events } = adapter
  if (!events) return native
  let translator = plainTranslators.get(adapter)
  if (!translator) {
    const wholeAsStream: Translator['wholeAsStream'] = (bytes, headers, call) => {
      const reply = adapter.reply(bytes, headers, call)
      const record = (reply.bytes && parseRecord(reply.bytes)) ?? parseRecord(bytes)
      if (!record) throw unstreamed()
      return [wholeStream(asEvents(events(record)), reply)]
    }
    translator = { ...native, wholeAsStream }
    plainTranslators.set(adapter, translator)
  }
  return translator
}
