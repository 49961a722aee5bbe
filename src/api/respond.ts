import type { Answer } from '../pipeline/answer.ts'

/** A whole JSON answer. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}

export function text(body: string, contentType: string): Answer {
  return { status: 200, headers: { 'content-type': contentType }, body: new TextEncoder().encode(body) }
}

/** Converts an answer to the response that a runtime expects from the router. */
export type ToResponse = (answer: Answer) => Response

export const toResponse: ToResponse = ({ status, headers, body }) =>
  new Response(hasBody(status) ? (body as BodyInit) : null, { status, headers })

/** Answers of status 204 and 304 have neither a body nor a content-length. */
export function hasBody(status: number): boolean {
  return status !== 304 && status !== 204
}
