import { ApiError, send } from '../../data/client.ts'

/** An endpoint of models, after `/v1/`. */
export type Endpoint =
  | 'chat/completions'
  | 'embeddings'
  | 'images/generations'
  | 'images/edits'
  | 'audio/speech'
  | 'audio/transcriptions'
  | 'audio/translations'
  | 'rerank'
  | 'moderations'

/** What is known of a call at once; the ledger knows the rest a moment later. */
export interface Told {
  readonly requestId: string | undefined
  readonly deployment?: string | undefined
  readonly attempts?: string | undefined
  readonly overheadMs?: number | undefined
  /** Why each deployment was taken or left out, where it was asked for. */
  readonly explain?: string | undefined
}

export interface Calling {
  readonly keyId: string
  readonly endpoint: Endpoint
  readonly body: FormData | Readonly<Record<string, unknown>>
  readonly explain: boolean
  readonly signal: AbortSignal
}

/** Calls a model as a key. What the gateway refuses is an ApiError. */
export async function callModel({ keyId, endpoint, body, explain, signal }: Calling): Promise<Response> {
  const isForm = body instanceof FormData
  return send(`/ui/api/playground/${endpoint}?key_id=${encodeURIComponent(keyId)}`, {
    method: 'POST',
    signal,
    headers: {
      // Either says that no form of another site has sent it.
      ...(isForm ? { 'x-requested-with': 'fetch' } : { 'content-type': 'application/json' }),
      ...(explain && { 'x-gateway-explain': '1' }),
    },
    body: isForm ? body : JSON.stringify(body),
  })
}

export function toldBy({ headers }: Response): Told {
  const header = (name: string) => headers.get(name) ?? undefined
  const overhead = header('x-gateway-overhead-ms')
  return {
    requestId: header('x-request-id'),
    deployment: header('x-gateway-deployment'),
    attempts: header('x-gateway-attempts'),
    overheadMs: overhead === undefined ? undefined : Number(overhead),
    explain: header('x-gateway-explain'),
  }
}

/** What ended a call, in words; undefined where it was stopped here. */
export function failureOf(error: unknown): ApiError | undefined {
  if (error instanceof DOMException && error.name === 'AbortError') return undefined
  if (error instanceof ApiError) return error
  return new ApiError('The answer broke off.', { status: 0, code: 'broken_off' })
}

/** What was typed as JSON; nothing for an empty text. Throws what is wrong at the field. */
export function jsonOf(text: string, param: string, kind: 'object' | 'list'): unknown {
  if (text.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ApiError(`This is not JSON: ${(error as Error).message}`, { status: 0, param })
  }
  const fits = kind === 'list' ? Array.isArray(value) : typeof value === 'object' && value && !Array.isArray(value)
  if (!fits) throw new ApiError(`This has to be a JSON ${kind}.`, { status: 0, param })
  return value
}
