import { type Transport, TransportError } from '../../transport/transport.ts'
import { SignOnProblem } from './problem.ts'

const TIMEOUT_MS = 10_000
/** Of documents, keys and tokens; a large provider's keys are 20 KB. */
const MOST_BYTES = 512 * 1024
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** What the OAuth library gives to its `fetch`. */
interface Options {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
}

/** A `fetch` for requests to a provider, through the gateway's own transport: no redirect is followed, an answer comes whole,
 *  within ten seconds, and is of a bounded size. */
export function fetchThrough(transport: Transport) {
  return async (address: string, { method, headers, body }: Options): Promise<Response> => {
    const { origin, pathname, search } = new URL(address)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const {
        status,
        headers: received,
        ...answer
      } = await transport.send(
        {
          method: method === 'POST' ? 'POST' : 'GET',
          origin,
          path: pathname + search,
          headers: { 'accept-encoding': 'identity', ...headers },
          ...(body === undefined || body === null ? {} : { body: String(body) }),
        },
        signal,
      )
      const bytes = await answer.body.bytes(MOST_BYTES)
      if (status >= 500) throw new SignOnProblem('provider_unreachable', `it answered ${status}`)
      const passed = ['content-type', 'www-authenticate'].flatMap((name): [string, string][] => {
        const value = received[name]
        return value === undefined ? [] : [[name, value]]
      })
      return new Response(NO_BODY.has(status) ? null : (bytes as BodyInit), { status, headers: passed })
    } catch (error) {
      if (error instanceof SignOnProblem) throw error
      if (signal.aborted) throw new SignOnProblem('provider_unreachable', 'it did not answer in time', { cause: error })
      if (error instanceof TransportError)
        throw new SignOnProblem('provider_unreachable', 'it could not be reached', { cause: error })
      throw new SignOnProblem('provider_refused', 'its answer could not be read', { cause: error })
    }
  }
}
