import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'

/** How a dialect's requests refer to answers that the gateway keeps, and to their parts. */
export interface KeptConversation {
  /** An id for a new answer. */
  newId(): string
  /** The answer that an id of a request names, or that has a part of that id; undefined for an id of another form. */
  answerIdOf(id: string): string | undefined
  /** What a request adds to its conversation, with an id for each part. `answerId` is that of the answer to it. */
  inputOf(request: ModelRequest, answerId: string, recalled: Recalled): readonly JsonRecord[]
  /** What an answer adds to the conversation. */
  outputOf(answer: JsonRecord): readonly JsonRecord[]
  /** The changes of a request that put what it refers to in the place of the references. Throws `invalid_request` if the
   *  two do not fit together. */
  joined(request: ModelRequest, recalled: Recalled): Readonly<Record<string, unknown>>
  /** Whether a request may hold parts that were written for clients of translated models. Cheap, and rather true. */
  holdsOwn(request: ModelRequest): boolean
  /** The changes of a request for a provider that did not make its answers; undefined if it understands all. */
  portable(request: ModelRequest): Readonly<Record<string, unknown>> | undefined
  /** The answer in a whole one, or in the last bytes of a stream; undefined if it did not end well. */
  answerIn(bytes: Uint8Array): JsonRecord | undefined
}

/** What a request refers to. */
export interface Recalled {
  /** The answer that it continues; undefined if it continues none. */
  readonly previousId: string | undefined
  /** The conversation that it continues. */
  readonly history: readonly JsonRecord[]
  /** Single parts of kept conversations, by the ids that the request names. */
  readonly parts: ReadonlyMap<string, JsonRecord>
  /** The deployment that made the last answer. */
  readonly maker: string | undefined
}

export const NOTHING_RECALLED: Recalled = { previousId: undefined, history: [], parts: new Map(), maker: undefined }
