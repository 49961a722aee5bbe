import type * as z from 'zod'

/** One call as a vendor gets it. */
export interface Asked {
  /** Behind the vendor's base address, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
}

export interface Reply {
  readonly contentType: string
  /** Each is one write. */
  readonly pieces: readonly (string | Uint8Array)[]
}

/** Answers as the vendor does; throws `Refusal` for what the vendor refuses. */
export type StrictVendor = (asked: Asked, serial: number) => Reply

/** What a vendor says no with: its own status and error shape. */
export class Refusal extends Error {
  readonly status: number
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: object, headers: Readonly<Record<string, string>> = {}) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** One thing that is wrong with a body: where, and what. */
export interface Wrong {
  /** As `messages.0.content`. */
  readonly at: string
  /** The name of a field that the vendor does not know, where that is what is wrong. */
  readonly unknown: string | undefined
  readonly missing: boolean
  readonly message: string
}

/** The body as a vendor's table of fields knows it; what differs first is refused in the vendor's words. */
export function checked<S extends z.ZodType>(schema: S, body: unknown, refuse: (wrong: Wrong) => Refusal): z.output<S> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  throw refuse(wrongOf(result.error.issues as unknown as readonly Issue[], []))
}

interface Issue {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly errors?: readonly (readonly Issue[])[]
}

function wrongOf(issues: readonly Issue[], before: readonly PropertyKey[]): Wrong {
  const issue = issues[0]
  if (!issue) return { at: before.join('.'), unknown: undefined, missing: false, message: 'Invalid' }
  const path = [...before, ...issue.path]
  // Of the members of a union the one that the value was likest to says what is wrong with it.
  const likest = issue.errors?.toSorted((a, b) => depth(b) - depth(a))[0]
  if (likest?.length) return wrongOf(likest, path)
  const unknown = issue.keys?.[0]
  const at = [...path, ...(unknown === undefined ? [] : [unknown])].join('.')
  return { at, unknown, missing: issue.message.endsWith('received undefined'), message: issue.message }
}

const depth = (issues: readonly Issue[]): number =>
  Math.max(0, ...issues.map(({ path, errors }) => path.length + Math.max(0, ...(errors ?? []).map(depth))))

export const frame = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

export const whole = (body: object): Reply => ({ contentType: 'application/json', pieces: [JSON.stringify(body)] })
export const events = (pieces: readonly string[]): Reply => ({ contentType: 'text/event-stream', pieces })

/** A text in pieces, for the deltas of a stream. */
export const cut = (text: string, length = 7): string[] => text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'gu')) ?? []

/** The names that occur twice. */
export const repeated = (names: readonly string[]): string[] => names.filter((name, at) => names.indexOf(name) !== at)
