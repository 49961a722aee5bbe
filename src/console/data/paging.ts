import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query'
import { type ApiError, api, type Input, misunderstood, type RouteName, type Row } from './client.ts'
import { pollAfter, type Reading } from './query.ts'

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
