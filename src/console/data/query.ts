import { keepPreviousData, QueryClient, useQuery } from '@tanstack/preact-query'
import { type Answer, ApiError, api, type Input, type RouteName } from './client.ts'

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      gcTime: 5 * 60_000,
      // What was refused is refused again; what failed on the way is asked twice more.
      retry: (count, error) => count < 2 && failedOnTheWay(error),
      refetchOnWindowFocus: true,
    },
    // A change that waited for the network by itself would be made when nobody expects it any more.
    mutations: { networkMode: 'always' },
  },
})

function failedOnTheWay(error: Error): boolean {
  if (!(error instanceof ApiError)) return false
  const { status, code, retryAfterSeconds } = error
  return (status === 0 && code !== 'stopped') || (status >= 502 && retryAfterSeconds === undefined)
}

export interface Reading {
  /** Asked only while true; default: true. */
  readonly enabled?: boolean
  /** Seconds between polls while the page is visible; 0 or undefined: no polling. */
  readonly live?: number | undefined
}

/** A cached answer of the gateway. The former answer stays while that for another input is loading. */
export function useApi<Name extends RouteName>(
  name: Name,
  input: Input<Name> = {} as Input<Name>,
  { enabled = true, live }: Reading = {},
) {
  return useQuery<Answer<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => api(name, input, signal),
    enabled,
    placeholderData: keepPreviousData as never,
    refetchInterval: (query) => pollAfter(live, query.state),
  })
}

/** Twice as long after each failure, a minute at most; and not before the time that the gateway names. */
export function pollAfter(
  seconds: number | undefined,
  { error, fetchFailureCount: failures }: { readonly error: ApiError | null; readonly fetchFailureCount: number },
): number | false {
  if (!seconds) return false
  return 1000 * Math.max(error?.retryAfterSeconds ?? 0, Math.min(60, seconds * 2 ** failures))
}

/** What was done is not held back for longer by what is read again after it. */
const MOST_WAIT_MS = 2000

/** Reads queries again whose paths begin with one of these: `/ui/api/teams`. Resolves when they are read, or when that
 *  takes long: then they are read later. */
export async function refresh(...paths: readonly string[]): Promise<void> {
  const read = queries.invalidateQueries({
    predicate: ({ queryKey: [name] }) => paths.some((path) => String(name).includes(` ${path}`)),
  })
  await Promise.race([read, new Promise((resolve) => setTimeout(resolve, MOST_WAIT_MS))])
}
