import { useEffect, useState } from 'preact/hooks'
import type { Lookup } from '../data/lookups.ts'
import { type Params, useParams } from '../data/params.ts'
import { useMay } from '../data/session.ts'
import { shortcut } from '../data/shortcuts.ts'
import { among, Combobox, type Option } from './form/combobox.tsx'
import { Icon } from './icons.tsx'
import { Menu } from './menu.tsx'

/** A filter of a list, by the name that the API has for it. */
export interface Filter {
  readonly name: string
  readonly label: string
  /** The values, if they are few. */
  readonly choices?: readonly Option[] | undefined
  /** Looks up the values, if they are records of the gateway. */
  readonly lookup?: Lookup | undefined
}

/** The filters of the address, as parameters for the list, its export and its chart. */
export function filterQuery(params: Params, filters: readonly Filter[]): Record<string, string> {
  return Object.fromEntries(
    filters.map(({ name }) => [name, params.get(name)] as const).filter(([, value]) => value !== ''),
  )
}

/** Filters as chips, kept in the address. Filters by records that the person may not read are not offered; one in a
 *  shared address is shown by its id. */
export function Filters({ filters: all }: { readonly filters: readonly Filter[] }) {
  const params = useParams()
  const may = useMay()
  const finds = ({ lookup }: Filter) => !lookup?.needs || may(lookup.needs)
  const filters = all.map((one) => (finds(one) ? one : { ...one, lookup: undefined }))
  const [editing, setEditing] = useState<string>()
  const active = filters.filter(({ name }) => params.get(name) !== '')
  const edited = filters.find(({ name }) => name === editing)
  const last = active.at(-1)?.name
  useEffect(
    () => shortcut('f', 'Add a filter', () => document.querySelector<HTMLElement>('[data-add-filter] button')?.click()),
    [],
  )
  useEffect(
    () => (last ? shortcut('Backspace', 'Remove the last filter', () => params.set({ [last]: undefined })) : undefined),
    [last, params.with({})],
  )
  const clear = () => params.set(Object.fromEntries(active.map(({ name }) => [name, undefined])))
  return (
    <>
      <span data-add-filter>
        <Menu
          label="Add a filter"
          class="button small"
          icon="filter"
          items={all.filter(finds).map(({ name, label }) => ({ label, onSelect: () => setEditing(name) }))}
        >
          Filter
        </Menu>
      </span>
      {active.map((filter) =>
        filter.name === editing ? null : (
          <Chip
            key={filter.name}
            filter={filter}
            value={params.get(filter.name)}
            onEdit={() => setEditing(filter.name)}
            onRemove={() => params.set({ [filter.name]: undefined })}
          />
        ),
      )}
      {edited && (
        <Combobox
          key={edited.name}
          label={edited.label}
          placeholder={edited.label}
          value=""
          autoFocus
          free={!edited.choices && !edited.lookup}
          search={edited.lookup ? edited.lookup.search : among(edited.choices ?? [])}
          onChange={(option) => {
            setEditing(undefined)
            params.set({ [edited.name]: option?.value })
          }}
          onLeave={() => setEditing(undefined)}
        />
      )}
      {active.length > 1 && (
        <button type="button" class="button plain small" onClick={clear}>
          Clear filters
        </button>
      )}
    </>
  )
}

function Chip({
  filter,
  value,
  onEdit,
  onRemove,
}: {
  readonly filter: Filter
  readonly value: string
  readonly onEdit: () => void
  readonly onRemove: () => void
}) {
  const { label, choices, lookup } = filter
  const [name, setName] = useState(value)
  useEffect(() => {
    setName(choices?.find((choice) => choice.value === value)?.label ?? value)
    let current = true
    lookup?.name(value).then((found) => current && setName(found))
    return () => {
      current = false
    }
  }, [value])
  return (
    <span class="chip">
      <span class="what">{label}</span>
      <button type="button" class="value" onClick={onEdit} title={value} aria-label={`${label}: ${name}. Change`}>
        <span class="value">{name}</span>
      </button>
      <button type="button" onClick={onRemove} aria-label={`Remove the filter ${label}`}>
        <Icon name="close" />
      </button>
    </span>
  )
}

/** The text that a list is searched for. */
export function SearchField({ label, param = 'search' }: { readonly label: string; readonly param?: string }) {
  const params = useParams()
  const [text, setText] = useState(params.get(param))
  const known = params.get(param)
  useEffect(() => setText(known), [known])
  useEffect(() => {
    if (text === known) return undefined
    const timer = setTimeout(() => params.set({ [param]: text.trim() }, { replace: true }), 250)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      class="input search"
      type="search"
      data-search
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  )
}
