import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/preact-query'
import { type Answer, ApiError, api, type Input, misunderstood, type RouteName, type Row } from './client.ts'

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

const MOST_ROWS = 1000

interface Page<Name extends RouteName> {
  readonly data: readonly Row<Name>[]
  readonly next_cursor: string | null
}

/** A list, page after page. */
export interface Pages<One> {
  readonly rows: readonly One[]
  readonly error: ApiError | null
  /** Nothing has been read yet. */
  readonly pending: boolean
  /** Other rows than those that are asked for are still shown. */
  readonly stale: boolean
  readonly readAt: number
  /** There are more rows, which can be shown; `full`: which are too many to be shown. */
  readonly more: false | 'more' | 'full'
  readonly loadingMore: boolean
  loadMore(): void
  refresh(): void
}

export function usePages<Name extends RouteName>(
  name: Name,
  input: Input<Name>,
  { enabled = true, live }: Reading = {},
): Pages<Row<Name>> {
  const query = useInfiniteQuery<Page<Name>, ApiError, InfiniteData<Page<Name>>, readonly unknown[], string>({
    queryKey: [name, input, 'pages'],
    queryFn: async ({ pageParam, signal }) => {
      const paged = { ...(input as object), query: { ...(input.query as object), limit: 100, cursor: pageParam } }
      const page = (await api(name, paged as Input<Name>, signal)) as unknown as Page<Name>
      if (!Array.isArray(page?.data)) throw misunderstood(200)
      return page
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    enabled,
    placeholderData: keepPreviousData,
    // Only the first page is polled.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : pollAfter(live, state)),
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return {
    rows,
    error: query.error,
    pending: query.isPending,
    stale: query.isPlaceholderData,
    readAt: query.dataUpdatedAt,
    more: query.hasNextPage ? (rows.length >= MOST_ROWS ? 'full' : 'more') : false,
    loadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    refresh: () => void query.refetch(),
  }
}

/** Twice as long after each failure, a minute at most; and not before the time that the gateway names. */
function pollAfter(
  seconds: number | undefined,
  { error, fetchFailureCount: failures }: { readonly error: ApiError | null; readonly fetchFailureCount: number },
): number | false {
  if (!seconds) return false
  return 1000 * Math.max(error?.retryAfterSeconds ?? 0, Math.min(60, seconds * 2 ** failures))
}

/** A change. Afterwards queries whose paths begin with one of `refreshes` are read again. */
export function useChange<Name extends RouteName>(
  name: Name,
  {
    refreshes = [],
    done,
  }: { readonly refreshes?: readonly string[]; readonly done?: (answer: Answer<Name>) => void } = {},
) {
  return useMutation<Answer<Name>, ApiError, Input<Name>>({
    mutationFn: (input) => api(name, input),
    onSuccess: async (answer) => {
      await refresh(...refreshes)
      done?.(answer)
    },
  })
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
