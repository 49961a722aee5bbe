import type { Row } from '../../data/client.ts'
import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Cut } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { SearchField } from '../../design/filters.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Empty, Loaded } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'

type ConfigKey = Row<'GET /ui/api/config'>

/** A value in words. A secret is known to be set, and nothing else. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (value === true) return 'on'
  if (value === false) return 'off'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

function Value({ of: key }: { readonly of: ConfigKey }) {
  if (key.secret) return <span class="quiet">{key.set ? 'set' : 'not set'}</span>
  if (!key.set && key.value === null) return <span class="quiet">none</span>
  if (key.type === 'map' || key.type === 'list') {
    return <span>{typeof key.value === 'number' ? `${key.value} entries` : written(key.value)}</span>
  }
  return <span class="mono">{written(key.value)}</span>
}

function Source({ of: { source, variable } }: { readonly of: ConfigKey }) {
  if (source === 'default') return <span class="quiet">default</span>
  if (source === 'environment') return <span class="mono">{variable ?? 'environment'}</span>
  return <>{source}</>
}

export const COLUMNS: ReadonlyArray<Column<ConfigKey>> = [
  { id: 'key', label: 'Setting', cell: ({ key }) => <Cut mono>{key.slice(key.indexOf('.') + 1)}</Cut> },
  { id: 'value', label: 'Value', cell: (key) => <Value of={key} /> },
  { id: 'source', label: 'From', cell: (key) => <Source of={key} /> },
  { id: 'meaning', label: 'Meaning', priority: 2, cell: ({ meaning }) => <span class="wraps">{meaning}</span> },
]

/** Every key of the configuration with what it is and where that comes from. */
export function ConfigKeys() {
  const params = useParams()
  const read = useApi('GET /ui/api/config')
  const open = params.get('open') || undefined
  const search = params.get('search').toLowerCase()
  const own = params.get('set') === 'own'
  return (
    <>
      <div class="bar">
        <SearchField label="Find a setting" />
        <Button
          small
          aria-pressed={own}
          onClick={() => params.set({ set: own ? undefined : 'own' }, { replace: true })}
        >
          Only what is set
        </Button>
      </div>
      <Loaded of={read}>
        {({ data }) => {
          const found = data.filter(
            ({ key, meaning, source }) =>
              (!own || source !== 'default') && `${key} ${meaning}`.toLowerCase().includes(search),
          )
          const sections = Map.groupBy(found, ({ key }) => key.slice(0, Math.max(0, key.indexOf('.'))))
          return (
            <>
              {found.length === 0 && <Empty title="No setting matches" />}
              {[...sections].map(([section, keys]) => (
                <Section key={section} title={section || 'The file'}>
                  <Table
                    name="settings"
                    label={section || 'The file'}
                    columns={COLUMNS}
                    rows={keys}
                    rowId={({ key }) => key}
                    href={({ key }) => params.with({ open: key })}
                    onOpen={({ key }) => params.set({ open: key }, { replace: open !== undefined })}
                    open={open}
                  />
                </Section>
              ))}
            </>
          )
        }}
      </Loaded>
    </>
  )
}

/** All that is known of one key. */
export function ConfigKeyPanel({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const read = useApi('GET /ui/api/config')
  return (
    <Panel title={<span class="mono">{name}</span>} onClose={onClose}>
      <Loaded of={read}>
        {({ data }) => {
          const one = data.find(({ key }) => key === name)
          if (!one) return <p class="quiet">There is no such setting.</p>
          return (
            <>
              <p>{one.meaning}</p>
              <Facts
                of={[
                  ['Value', <Value of={one} />],
                  ['From', <Source of={one} />],
                  ['Default', one.secret ? undefined : <span class="mono">{written(one.default)}</span>],
                  ['Kind', one.type],
                  ['May be', one.choices ? one.choices.join(', ') : undefined],
                  ['In force', one.restart ? 'after a restart' : 'at once'],
                ]}
              />
              {one.secret && <p class="quiet">A secret: it is never shown.</p>}
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}
