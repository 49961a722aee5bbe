import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { keep, kept } from '../../data/settings.ts'
import { store, useStore } from '../../data/store.ts'
import { Button, copyText } from '../button.tsx'
import { placeUnder } from '../menu.tsx'
import { toast } from '../toast.tsx'

export interface Column<Row> {
  readonly id: string
  readonly label: string
  readonly cell: (row: Row) => ComponentChildren
  readonly number?: boolean
  /** It is as wide as the others leave room for, and its text is cut. */
  readonly elastic?: boolean
  /** 1 is always there; 4 goes first where there is little room. Default: 1. */
  readonly priority?: 1 | 2 | 3 | 4
  /** Shown only to those who chose it. */
  readonly optional?: boolean
  /** Always shown, because another part of the page needs it. */
  readonly pinned?: boolean
}

type Columns<Row> = ReadonlyArray<Column<Row>>

/** In the address: the columns of a table, in their order. */
const PARAM = 'cols'
/** Counts the choices, so that the tables of a page follow them. */
const choices = store(0)

/** The ids that the address names, else those that this browser keeps; undefined without a choice. */
function useChosen<Row>(name: string, columns: Columns<Row>): readonly string[] | undefined {
  const params = useParams()
  useStore(choices)
  const known = new Set(columns.map(({ id }) => id))
  const shared = params.get(PARAM).split(',').filter(Boolean)
  // The address may name columns of another table of the page.
  if (shared.length > 0 && shared.every((id) => known.has(id))) return shared
  return kept<readonly string[] | undefined>(`columns:${name}`, undefined)
}

/** The columns of a table that are shown, in the order that was chosen. The first is always there: it leads on. */
export function useColumns<Row>(name: string, columns: Columns<Row>): Columns<Row> {
  return inOrder(columns, useChosen(name, columns)).filter(({ shown }) => shown)
}

function inOrder<Row>(columns: Columns<Row>, ids: readonly string[] | undefined) {
  const all = columns.map((column, at) => ({
    ...column,
    shown: at === 0 || column.pinned === true || (ids ? ids.includes(column.id) : !column.optional),
  }))
  if (!ids) return all
  // Columns that were not chosen stay behind the ones that usually precede them.
  const placed = all.filter(({ id }, at) => at > 0 && ids.includes(id))
  placed.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  const isPlaced = new Set(placed.map(({ id }) => id))
  return all.map((column) => (isPlaced.has(column.id) ? (placed.shift() as (typeof all)[number]) : column))
}

/** The choice of columns and of their order, for the bar over a table. */
export function ColumnChoice<Row>({ name, columns }: { readonly name: string; readonly columns: Columns<Row> }) {
  const params = useParams()
  const ids = useChosen(name, columns)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [first, ...others] = inOrder(columns, ids)
  const shown = (of: typeof others) => [first, ...of].flatMap((one) => (one?.shown ? [one.id] : []))

  function change(next: readonly string[] | undefined): void {
    keep(`columns:${name}`, next)
    choices.set(choices.get() + 1)
    if (params.get(PARAM)) params.set({ [PARAM]: next?.join(',') }, { replace: true })
  }
  const toggle = (column: string) =>
    change(shown(others.map((one) => (one.id === column ? { ...one, shown: !one.shown } : one))))
  function move(at: number, by: 1 | -1): void {
    const next = others.filter((one) => one.shown)
    const [moved] = next.splice(at, 1)
    if (moved) next.splice(at + by, 0, moved)
    change(shown(next))
  }
  async function share(): Promise<void> {
    const address = params.with({ [PARAM]: shown(others).join(',') })
    await copyText(new URL(address, location.origin).href)
    toast('The link is copied. It opens the list with these columns.')
  }
  const offered = others.filter(({ pinned }) => !pinned)
  const visible = others.filter((one) => one.shown)
  return (
    <>
      <button ref={button} type="button" class="button plain small" popoverTarget={id}>
        Columns
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="group"
        aria-label="Columns"
        onToggle={(event: Event) =>
          (event as ToggleEvent).newState === 'open' && placeUnder(button.current, list.current)
        }
      >
        {offered.map((column) => {
          const at = visible.indexOf(column)
          return (
            <div key={column.id} class="column-choice">
              <label class="check">
                <input type="checkbox" checked={column.shown} onChange={() => toggle(column.id)} />
                {column.label}
              </label>
              {column.shown && (
                <>
                  <Button
                    small
                    kind="plain"
                    icon="previous"
                    label={`${column.label}: further left`}
                    disabled={at === 0}
                    onClick={() => move(at, -1)}
                  />
                  <Button
                    small
                    kind="plain"
                    icon="next"
                    label={`${column.label}: further right`}
                    disabled={at === visible.length - 1}
                    onClick={() => move(at, 1)}
                  />
                </>
              )}
            </div>
          )
        })}
        <hr />
        <button type="button" class="option" onClick={() => void share()}>
          Copy a link with these columns
        </button>
        <button type="button" class="option" onClick={() => change(undefined)}>
          As they were
        </button>
      </div>
    </>
  )
}
