import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { useParams } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { shortcut } from '../../data/shortcuts.ts'
import { Panel } from '../../design/panel.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { History } from './history.tsx'
import type { PlaceOf } from './place.ts'
import { PlaceAccess } from './place-access.tsx'
import { PlaceKeys } from './place-keys.tsx'
import { PlaceMembers } from './place-members.tsx'
import { Spending } from './spending.tsx'

/** One part of what is told about a place. */
interface Part {
  readonly id: string
  readonly label: string
  readonly view: () => ComponentChildren
}

/** The panel of an organization or a team. `overview` and `more` are the parts that only one of them has. The keys 1,
 *  2, 3 … open the parts. */
export function PlacePanel({
  of: place,
  isThere,
  title,
  noun,
  footer,
  overview,
  more = [],
  onClose,
  children,
}: {
  readonly of: PlaceOf
  /** Whether it has been read: what may be seen of it is known then. */
  readonly isThere: boolean
  readonly title: string
  readonly noun: string
  readonly footer: ComponentChildren
  readonly overview: () => ComponentChildren
  readonly more?: readonly Part[] | undefined
  readonly onClose: () => void
  /** Shown in place of the parts until it has been read. */
  readonly children: ComponentChildren
}) {
  const params = useParams()
  const may = useMay()
  const at = place.scope === 'team' ? { ...place, team_id: place.id } : place
  const audit = place.scope === 'team' ? { resource_id: place.id } : { organization_id: place.id }
  const spending =
    place.scope === 'team' ? (
      <Spending of={{ team_id: place.id }} by={['key', 'model']} />
    ) : (
      <Spending of={{ organization_id: place.id }} by={['team', 'key', 'model']} />
    )
  const parts: readonly Part[] = [
    { id: 'overview', label: 'Overview', view: overview },
    { id: 'members', label: 'Members', view: () => <PlaceMembers of={place} /> },
    ...(may('key.read', at) ? [{ id: 'keys', label: 'Keys', view: () => <PlaceKeys of={place} /> }] : []),
    { id: 'models', label: 'Models', view: () => <PlaceAccess of={place} /> },
    ...more,
    ...(may('spend.read', at) ? [{ id: 'spend', label: 'Spend', view: () => spending }] : []),
    ...(may('audit.read', at) ? [{ id: 'audit', label: 'Audit', view: () => <History of={audit} /> }] : []),
  ]
  const current = parts.find(({ id }) => id === params.get('tab')) ?? (parts[0] as Part)
  const show = (id: string) => params.set({ tab: id === 'overview' ? undefined : id }, { replace: true })
  const ids = parts.map(({ id }) => id).join(' ')
  useEffect(() => {
    const ends = parts.map(({ id, label }, index) => shortcut(String(index + 1), `Show ${label}`, () => show(id)))
    return () => {
      for (const end of ends) end()
    }
  }, [ids, params.with({})])
  return (
    <Panel title={title} onClose={onClose} footer={footer}>
      {children}
      {isThere && (
        <>
          <Tabs label={`About the ${noun}`} tabs={parts} current={current.id} onChange={show} />
          {current.view()}
        </>
      )}
    </Panel>
  )
}
