import type { Api } from '../api-types.ts'
import { noteAway } from './connection.ts'
import { lookingAs } from './looking-as.ts'
import { personOfPage, signedInAgain } from './signing-in.ts'

/** A route of the gateway: `GET /ui/api/teams/{team_id}`. */
export type RouteName = keyof Api

type Named<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never
type Part<Name extends string, Type> = undefined extends Type
  ? { readonly [Key in Name]?: undefined }
  : Record<string, never> extends Type
    ? { readonly [Key in Name]?: Type | undefined }
    : { readonly [Key in Name]: Type }

/** What a route takes: the names in its path, its query, its body. */
export type Input<Name extends RouteName> = ([Named<Name>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<Named<Name>, string>> }) & {
  readonly query?: Api[Name]['query'] | undefined
} & Part<'body', Api[Name]['body']>

export type Answer<Name extends RouteName> = Api[Name]['answer']

/** The rows of a list. */
export type Row<Name extends RouteName> = Answer<Name> extends { data: Array<infer One> } ? One : never

/** A refusal of the gateway, in its own words. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  /** The field that is wrong. */
  readonly param: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, facts: Partial<Omit<ApiError, 'name' | 'message'>> & { readonly status: number }) {
    super(message)
    this.status = facts.status
    this.code = facts.code
    this.param = facts.param
    this.requestId = facts.requestId
    this.retryAfterSeconds = facts.retryAfterSeconds
  }
}

interface Loose {
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

/** The address of a route, for a link to a file or a fetch of its own. */
export function addressOf(name: RouteName, { params, query }: Loose = {}): string {
  const path = name
    .slice(name.indexOf(' ') + 1)
    .replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params?.[key] ?? ''))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.append(key, String(value))
  }
  return search.size > 0 ? `${path}?${search}` : path
}

/** Asks a route of the gateway. A session that has ended is opened again over the page, and the request is repeated; a
 *  write only for whom it was made. */
export async function api<Name extends RouteName>(
  name: Name,
  input: Input<Name> = {} as Input<Name>,
  signal?: AbortSignal,
): Promise<Answer<Name>> {
  const { body } = input as Loose
  const method = name.slice(0, name.indexOf(' '))
  const init: Sent = {
    method,
    // A write says so without a body too: no form of another site can.
    ...(method === 'GET' ? {} : { headers: { 'content-type': 'application/json' } }),
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }
  const address = addressOf(name, input as Loose)
  const asked = async () => (await readJson(await send(address, init))) as Answer<Name>
  return method === 'GET' ? stoppable(asked()) : asked()
}

interface ReadUnderWay {
  readonly since: number
  stop(): void
}

const readsUnderWay = new Set<ReadUnderWay>()

/** Aborts all reads that have taken `ms`. */
export function stopReading(ms: number): void {
  for (const { since, stop } of readsUnderWay) if (performance.now() - since >= ms) stop()
}

/** The answer, unless `stopReading` ends the wait. */
async function stoppable<Value>(answer: Promise<Value>): Promise<Value> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const read: ReadUnderWay = {
    since: performance.now(),
    stop: () => reject(new ApiError('The answer did not arrive completely.', { status: 0, code: 'stopped' })),
  }
  readsUnderWay.add(read)
  try {
    return await Promise.race([answer, stopped])
  } finally {
    readsUnderWay.delete(read)
  }
}

/** The one write of a console that is looked at as somebody else. */
const SIGN_OUT = '/auth/internal/logout'

type Sent = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> }

/** As `fetch`, with failures as ApiError and with a session that is opened again. */
export async function send(address: string, init: Sent = {}): Promise<Response> {
  const role = lookingAs.get()
  const isWrite = (init.method ?? 'GET') !== 'GET'
  if (role && isWrite && address !== SIGN_OUT) {
    throw new ApiError(`You look as ${role}: nothing can be changed.`, { status: 0, code: 'looks_only' })
  }
  const isOfPerson = !address.startsWith('/auth/')
  const person = personOfPage.get()
  let response = await reached(address, init, isOfPerson ? person : '')
  if (response.status === 401 && isOfPerson) {
    // Whoever signs in again is the person again.
    lookingAs.set('')
    await signedInAgain()
    response = await reached(address, init, isWrite ? person : personOfPage.get())
  }
  if (response.ok) {
    if (address.startsWith('/ui/api/')) noteAway(false)
    return response
  }
  throw await errorOf(response)
}

async function reached(address: string, init: Sent, person: string): Promise<Response> {
  try {
    return await fetch(address, { ...init, headers: { ...init.headers, 'x-gateway-account': person } })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError('The gateway cannot be reached.', { status: 0, code: 'unreachable' })
  }
}

/** The answer, unless something else than the gateway has given it, or it is cut. */
export async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  const answer = await response.json().catch(() => null)
  if (answer === null) throw misunderstood(response.status)
  return answer
}

/** An answer of an unexpected form, such as one of a proxy in front of the gateway. */
export const misunderstood = (status: number) =>
  new ApiError('The console cannot read this answer.', { status, code: 'malformed' })

interface WireError {
  readonly message?: string
  readonly code?: string | null
  readonly param?: string | null
}

async function errorOf(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => null)) as { readonly error?: WireError } | null
  const { message, code, param } = answer?.error ?? {}
  const failure = new ApiError(message ?? `The gateway answered ${response.status}.`, {
    status: response.status,
    code: code ?? undefined,
    param: param ?? undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number(response.headers.get('retry-after')) || undefined,
  })
  if (failure.code === 'database_unavailable') noteAway(true)
  return failure
}
