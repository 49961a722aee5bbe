import type { AnswerOptions } from './openai-chat.ts'

/** What the far end does with one call. Plain data, so that a test in workerd can send it over HTTP. */
export interface Behaviour {
  readonly say: Saying
  /** Applied to the plan of the answer, in order. */
  readonly changes: readonly Change[]
}

export type Saying =
  /** The true answer to whatever was asked. */
  | { readonly kind: 'answer'; readonly options: AnswerOptions }
  /** These words, whatever was asked. Each piece is one write: one event, when it is a stream. */
  | { readonly kind: 'raw'; readonly status: number; readonly headers: Headers; readonly pieces: readonly string[] }
  /** Not even a status line. */
  | { readonly kind: 'nothing'; readonly ending: Ending }

export type Headers = Readonly<Record<string, string>>

export interface Change {
  readonly change: string
  readonly options: unknown
}

/** How the connection is left: a proper end, a FIN in the middle, a RST, or open without another byte. */
export type Ending = 'end' | 'close' | 'reset' | 'hang'

/** The whole answer, laid out before its first byte is sent: the server only plays it. */
export interface Plan {
  /** Waited before the status line. */
  readonly waitMs: number
  readonly head: { readonly status: number; readonly headers: Headers } | undefined
  readonly writes: readonly Write[]
  readonly ending: Ending
}

export interface Write {
  /** Waited before these bytes. */
  readonly waitMs: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface ChangeMaker<O> {
  (options: O): Change
  readonly change: string
  apply(plan: Plan, options: O): Plan
}

/** Names a pure change of a plan; calling the result gives the data that stands for it. */
export function defineChange<O>(change: string, apply: (plan: Plan, options: O) => Plan): ChangeMaker<O> {
  return Object.assign((options: O): Change => ({ change, options }), { change, apply })
}

/** The same behaviour with more changes behind its own. */
export function change(behaviour: Behaviour, ...changes: Change[]): Behaviour {
  return { ...behaviour, changes: [...behaviour.changes, ...changes] }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)
export const textOf = (write: Write): string => decoder.decode(write.bytes)
export const writeOf = (text: string, waitMs = 0): Write => ({ waitMs, bytes: bytesOf(text) })

/** The bytes of several writes as one piece. */
export function joined(writes: readonly Write[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(writes.reduce((sum, write) => sum + write.bytes.byteLength, 0))
  let at = 0
  for (const write of writes) {
    whole.set(write.bytes, at)
    at += write.bytes.byteLength
  }
  return whole
}

/** The plan with a content-length that is true again, for one that has any. */
export function measured(plan: Plan): Plan {
  if (plan.head?.headers['content-length'] === undefined) return plan
  const length = String(joined(plan.writes).byteLength)
  return { ...plan, head: { ...plan.head, headers: { ...plan.head.headers, 'content-length': length } } }
}
