import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Pages } from '../data/paging.ts'
import { shortcut } from '../data/shortcuts.ts'
import { Button } from './button.tsx'
import { type Column, useColumns } from './list/columns.tsx'
import { Failure, Skeleton, SLOW_MS, StillReading, useLate } from './states.tsx'

export type { Column }

interface TableProps<Row> {
  /** Under which the choice of columns is remembered. */
  readonly name: string
  /** What the rows are, in the plural, for those who do not see the page. */
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rowId: (row: Row) => string
  /** Where a row leads, if it leads anywhere. The first cell is the link. */
  readonly href?: ((row: Row) => string | undefined) | undefined
  /** Called instead, where a row opens a panel of this page. */
  readonly onOpen?: ((row: Row) => void) | undefined
  /** What a row belongs to. Rows that follow each other and belong to the same stand under its name. */
  readonly group?: ((row: Row) => string) | undefined
  /** The id of the row that is open. */
  readonly open?: string | undefined
  /** It has so many columns that long names are cut early. */
  readonly dense?: boolean | undefined
  /** Ids of rows that this page has just written. */
  readonly fresh?: readonly string[] | undefined
}

/** A paged list as a table, with its loading, empty and error states. */
export function ListTable<Row>({
  list,
  empty,
  ...table
}: TableProps<Row> & { readonly list: Pages<Row>; readonly empty: ComponentChildren }) {
  const { rows, error, pending, stale, more } = list
  if (pending && !error) return <Waiting columns={table.columns.length} />
  if (rows.length === 0 && !error) return <>{empty}</>
  return (
    <>
      {error && <Failure error={error} retry={list.refresh} readAt={list.readAt} />}
      {rows.length > 0 && (
        <>
          <Table {...table} rows={rows} busy={stale} />
          <div class="under">
            <span>
              {rows.length} {more === false ? 'in total' : 'shown'}
            </span>
            <More of={list} />
          </div>
        </>
      )}
    </>
  )
}

/** The way to the rows of a list that are not shown. */
export function More<Row>({ of: { more, loadMore, loadingMore } }: { readonly of: Pages<Row> }) {
  if (more === 'full') return <span>There are more: narrow the filter to see them.</span>
  return more === 'more' ? (
    <Button small onClick={loadMore} busy={loadingMore}>
      Load 100 more
    </Button>
  ) : null
}

export function Table<Row>({
  name,
  label,
  columns,
  rows,
  rowId,
  href,
  onOpen,
  group,
  open,
  fresh,
  dense = false,
  busy = false,
}: TableProps<Row> & { readonly rows: readonly Row[]; readonly busy?: boolean }) {
  const chosen = useColumns(name, columns)
  const body = useRef<HTMLTableSectionElement>(null)
  useWalk(body, rows, rowId, open, onOpen)
  return (
    // A region that can be scrolled sideways is reached by the keyboard too.
    <div class="table-wrap" aria-busy={busy} role="region" aria-label={label} tabIndex={0}>
      <table class={dense ? 'table dense' : 'table'}>
        <thead>
          <tr>
            {chosen.map((column) => (
              <th key={column.id} scope="col" class={classOf(column)} data-priority={column.priority}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => {
            const id = rowId(row)
            const address = href?.(row)
            const opens = address !== undefined || onOpen !== undefined
            const before = rows[index - 1]
            const name = group?.(row)
            const heads = name !== undefined && (!before || group?.(before) !== name)
            const cells = (
              <tr
                key={id}
                data-id={id}
                class={[opens && 'opens', fresh?.includes(id) && 'fresh'].filter(Boolean).join(' ') || undefined}
                aria-current={open === id ? 'true' : undefined}
                onClick={(event) => {
                  if (isOwn(event)) return
                  if (onOpen) onOpen(row)
                  else event.currentTarget.querySelector<HTMLElement>('.row-link')?.click()
                }}
              >
                {chosen.map((column, at) => (
                  <td key={column.id} class={classOf(column)} data-priority={column.priority}>
                    {at === 0 && opens ? (
                      <a
                        class="row-link"
                        href={address ?? '#'}
                        onClick={(event) => {
                          if (!onOpen || event.metaKey || event.ctrlKey || event.shiftKey) return
                          event.preventDefault()
                          event.stopPropagation()
                          onOpen(row)
                        }}
                      >
                        {column.cell(row)}
                      </a>
                    ) : (
                      column.cell(row)
                    )}
                  </td>
                ))}
              </tr>
            )
            if (!heads) return cells
            return (
              <Fragment key={`group ${name} ${id}`}>
                <tr class="group">
                  <th scope="colgroup" colSpan={chosen.length}>
                    {name}
                  </th>
                </tr>
                {cells}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Whether a click in a row is for something else: a control, a link, or the end of a selection. */
function isOwn(event: MouseEvent): boolean {
  if ((event.target as Element).closest('a, button, input, label')) return true
  return String(getSelection()) !== ''
}

/** j and k go from row to row; with a panel open, the panel goes with them. */
function useWalk<Row>(
  body: { readonly current: HTMLTableSectionElement | null },
  rows: readonly Row[],
  rowId: (row: Row) => string,
  open: string | undefined,
  onOpen: ((row: Row) => void) | undefined,
): void {
  const state = useRef({ rows, rowId, open, onOpen })
  state.current = { rows, rowId, open, onOpen }
  useEffect(() => {
    const walk = (step: 1 | -1) => () => {
      const now = state.current
      const links = [...(body.current?.querySelectorAll<HTMLElement>('tr[data-id]') ?? [])]
      const focused = links.findIndex((row) => row.contains(document.activeElement))
      const at = now.open === undefined ? focused : now.rows.findIndex((row) => now.rowId(row) === now.open)
      const next = Math.max(0, Math.min(links.length - 1, at + step))
      links[next]?.querySelector<HTMLElement>('.row-link')?.focus()
      const row = now.rows[next]
      if (now.open !== undefined && row) now.onOpen?.(row)
    }
    const ends = [shortcut('j', 'The next row', walk(1)), shortcut('k', 'The row before', walk(-1))]
    return () => {
      for (const end of ends) end()
    }
  }, [])
}

const classOf = ({ number, elastic }: { readonly number?: boolean; readonly elastic?: boolean }) =>
  number ? 'number' : elastic ? 'elastic' : undefined

function Waiting({ columns }: { readonly columns: number }) {
  const late = useLate(150)
  const later = useLate(SLOW_MS)
  if (!late) return null
  return (
    <div class="table-wrap" role="status" aria-label="Reading">
      <table class="table">
        <tbody>
          {Array.from({ length: 8 }, (_, row) => (
            <tr key={row}>
              {Array.from({ length: Math.min(columns, 6) }, (_, cell) => (
                <td key={cell}>
                  <Skeleton width={40 + ((row * 13 + cell * 29) % 50)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {later && (
        <div class="under">
          <StillReading />
        </div>
      )}
    </div>
  )
}
