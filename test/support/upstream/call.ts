/** What the far end saw of one call. Times are milliseconds since 1970. */
export interface Call {
  readonly method: string
  /** With its query, as it came. */
  readonly path: string
  /** The model that the body names, '' when it names none. */
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
  /** The very bytes of the request body. */
  readonly body: Uint8Array
  readonly startedAt: number
  /** undefined while it goes on. */
  readonly endedAt: number | undefined
  readonly outcome: Outcome
  /** Pieces of the answer handed to the socket. */
  readonly writes: number
  readonly bytesSent: number
}

/** A request while its body is still coming, before it is a call. */
export interface Arrival {
  readonly path: string
  /** Bytes of the body. */
  readonly received: number
  readonly state: 'coming' | 'whole' | 'broken_off'
}

/** `finished`: all was sent and the body properly ended; `client_closed`: the caller left first; `broken_off`: the script
 *  said to close or reset. */
export type Outcome = 'running' | 'finished' | 'client_closed' | 'broken_off'

/** The request body as JSON. */
export function bodyOf(call: Call): unknown {
  return JSON.parse(new TextDecoder().decode(call.body))
}

/** A call as it travels over HTTP. */
export type CallOnWire = Omit<Call, 'body'> & { readonly body: string }

/** Whether a call belongs to a script's key: a path prefix when it starts with a slash, else a model name. */
export function belongsTo(key: string, call: Pick<Call, 'path' | 'model'>): boolean {
  if (!key.startsWith('/')) return call.model === key
  return call.path === key || call.path.startsWith(key.endsWith('/') ? key : `${key}/`)
}
