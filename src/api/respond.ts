import type { Answer } from '../pipeline/answer.ts'

/** A whole JSON answer. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}

export function text(body: string, contentType: string, status = 200): Answer {
  return { status, headers: { 'content-type': contentType }, body: new TextEncoder().encode(body) }
}

/** An answer as a runtime takes it from the router. */
export type ToResponse = (answer: Answer) => Response

export const toResponse: ToResponse = ({ status, headers, body }) =>
  new Response(hasBody(status) ? (body as BodyInit) : null, { status, headers })

/** Answers of this status come without a body, and without the length of one. */
export function hasBody(status: number): boolean {
  return status !== 304 && status !== 204
}
