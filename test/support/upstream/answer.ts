import type { Behaviour, Change, Headers } from './behaviour.ts'
import type { AnswerOptions } from './openai-chat.ts'

/** The true answer to what was asked: chat whole or streamed, embeddings, the list of models. */
export function answer(options: AnswerOptions = {}, ...changes: Change[]): Behaviour {
  return { say: { kind: 'answer', options }, changes }
}

/** An answer too large to hold at ease. */
export const hugeAnswer = (textBytes: number): Behaviour => answer({ textBytes })

/** These very words, for another vendor's shape or a broken one. */
export function raw(status: number, body: string, headers: Headers = {}, ...changes: Change[]): Behaviour {
  return { say: { kind: 'raw', status, headers, pieces: [body] }, changes }
}

/** A JSON reply of any vendor. */
export function json(status: number, body: unknown, headers: Headers = {}, ...changes: Change[]): Behaviour {
  return raw(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers }, ...changes)
}

/** A stream of any vendor: each frame is one write and holds its own blank line. */
export function frames(pieces: readonly string[], headers: Headers = {}, ...changes: Change[]): Behaviour {
  const all = { 'content-type': 'text/event-stream; charset=utf-8', ...headers }
  return { say: { kind: 'raw', status: 200, headers: all, pieces }, changes }
}
