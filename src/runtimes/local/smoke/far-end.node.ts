import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { TLSSocket } from 'node:tls'

export interface Sent {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** None: without a credential. */
  readonly key?: string | undefined
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What one read of the connection brought, in milliseconds after the request was sent. */
export interface Piece {
  readonly atMs: number
  readonly text: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly pieces: readonly Piece[]
  /** When the request was sent and the head came, by this machine's clock. */
  readonly sentAt: number
  readonly headAt: number
  /** When the end came, in milliseconds after the request was sent. */
  readonly endMs: number
  /** Such as `TLSv1.3`; undefined over plain http. */
  readonly tls: string | undefined
}

/** A call that has begun. */
export interface Begun {
  /** Resolves with the first bytes of the body, or at its end; rejects where neither comes. */
  readonly first: Promise<void>
  readonly ended: Promise<Answer>
  isEnded(): boolean
  /** Closes the connection, as a client does that has seen enough. */
  leave(): void
}

/** The deployment that is tested. Each request has a connection of its own, so that calls at once are not put in line. */
export interface FarEnd {
  readonly url: string
  ask(sent: Sent): Promise<Answer>
  begin(sent: Sent): Begun
  /** Everything that was answered so far, heads included, with the request that it answers. */
  readonly heard: readonly { readonly to: string; readonly text: string }[]
}

const MOST_CHARACTERS = 16_000_000

export function farEnd(url: string, answerMs: number): FarEnd {
  const heard: { to: string; text: string }[] = []
  const base = url.replace(/\/+$/, '')
  const request = base.startsWith('https:') ? httpsRequest : httpRequest

  function begin({ method, path, key, json, headers }: Sent): Begun {
    const body = json === undefined ? undefined : JSON.stringify(json)
    const pieces: Piece[] = []
    const first = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<Answer>()
    // Whoever only waits for one of them does not hear of the other.
    for (const { promise } of [first, ended]) promise.catch(() => {})
    let isEnded = false
    const sentAt = Date.now()
    const begun = performance.now()
    const sinceBegin = () => performance.now() - begun
    const fail = (error: Error) => {
      isEnded = true
      first.reject(error)
      ended.reject(error)
    }
    const call = request(
      base + path,
      {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        agent: false,
        signal: AbortSignal.timeout(answerMs),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
      },
      (response) => {
        const headAt = Date.now()
        // It is gone with the end of the answer.
        const tls = 'getProtocol' in response.socket ? (response.socket as TLSSocket).getProtocol() : undefined
        let characters = 0
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          characters += text.length
          if (characters > MOST_CHARACTERS) call.destroy(new Error(`${path} answers more than is read`))
          pieces.push({ atMs: sinceBegin(), text })
          first.resolve()
        })
        response.on('error', fail)
        response.on('end', () => {
          const text = pieces.map((piece) => piece.text).join('')
          const { statusCode: status = 0, headers } = response
          isEnded = true
          heard.push({ to: `${call.method} ${path}`, text: `${response.rawHeaders.join('\n')}\n${text}` })
          first.resolve()
          ended.resolve({ status, headers, text, pieces, sentAt, headAt, endMs: sinceBegin(), tls: tls ?? undefined })
        })
      },
    )
    call.on('error', fail)
    call.end(body)
    return { first: first.promise, ended: ended.promise, isEnded: () => isEnded, leave: () => call.destroy() }
  }

  return { url: base, heard, begin, ask: (sent) => begin(sent).ended }
}

/** The body of an answer as JSON. */
export function jsonOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    return undefined
  }
}

/** What an answer says in a line, for a detail: its status, and the message of an error. */
export function inShort(answer: Answer): string {
  const { error } = (jsonOf(answer) ?? {}) as { error?: { message?: unknown } }
  const message = typeof error?.message === 'string' ? error.message : ''
  return message === '' ? `${answer.status}` : `${answer.status}: ${message.slice(0, 200)}`
}
