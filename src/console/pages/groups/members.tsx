import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../../data/client.ts'
import { refresh, useApi, useChange } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { State } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { confirmed } from '../../design/confirmed.ts'
import { type HealthOfDeployment, StateOf } from '../../design/deployment-state.tsx'
import { Combobox } from '../../design/form/combobox.tsx'
import { useUnsaved } from '../../design/form/unsaved.ts'
import { Failure, Notice } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import type { Group, Member } from './group.ts'

const AFTER = { refreshes: ['/ui/api/route-groups'] }

/** The deployments and models that share the calls of a group. */
export function Members({ group, onGone }: { readonly group: Group; readonly onGone: () => void }) {
  const may = useMay()('config.update')
  const { name } = group
  /** What is edited. A newer one takes its place, unless that would lose input. */
  const [base, setBase] = useState(group)
  const [members, setMembers] = useState<readonly Member[]>(group.members)
  const [enabled, setEnabled] = useState(group.enabled)
  const change = useChange('PATCH /ui/api/route-groups/{name}', {
    ...AFTER,
    done: (saved) => {
      load(saved)
      toast('Saved. It applies everywhere within five seconds.')
    },
  })
  const remove = useChange('DELETE /ui/api/route-groups/{name}', AFTER)
  const dirty = enabled !== base.enabled || JSON.stringify(members) !== JSON.stringify(base.members)
  const draft = useUnsaved(dirty)
  const isOld = group.version > base.version && !change.isPending
  useEffect(() => {
    if (isOld && !dirty) load(group)
  }, [isOld, dirty, group])
  const health = useApi('GET /health/deployments', { query: { model: name } }, { live: 5 })
  // What a model has behind it, and what weight a deployment has of its own, is not told here: the simulation knows it.
  const isKnown = members.every(
    ({ enabled: on, weight, deployment_id }) => !on || (weight !== undefined && deployment_id),
  )
  const table = useRef<HTMLDivElement>(null)
  const all = members.reduce((sum, { weight = 1, enabled: on }) => sum + (on ? weight : 0), 0)
  const set = (at: number, changes: Partial<Member>) =>
    setMembers(members.map((one, index) => (index === at ? clean({ ...one, ...changes }) : one)))
  /** The row takes its button with it: the focus goes to the table. */
  function takeOut(at: number): void {
    table.current?.focus()
    setMembers(members.filter((_, index) => index !== at))
  }
  function load(from: Group): void {
    setBase(from)
    setMembers(from.members)
    setEnabled(from.enabled)
  }
  const save = () =>
    change.mutate(
      { params: { name }, body: { members: [...members], enabled, version: base.version } },
      // What somebody else has saved meanwhile is read, and shown as such.
      { onError: ({ code }) => void (code === 'version_conflict' && refresh(...AFTER.refreshes)) },
    )
  async function ask(): Promise<void> {
    const sure = await confirmed({
      title: `Delete ${name}?`,
      body: 'Calls by this name are refused from then on; a model of the same name is back.',
      action: 'Delete',
      danger: true,
    })
    if (!sure) return
    draft.isUnsaved = false
    remove.mutate({ params: { name } }, { onSuccess: onGone })
  }
  return (
    <div class="stack">
      {isOld && dirty ? (
        <Notice
          tone="warn"
          actions={
            <>
              <Button
                small
                onClick={() => {
                  load(group)
                  change.reset()
                }}
              >
                Load theirs
              </Button>
              <Button
                small
                onClick={() => {
                  setBase(group)
                  change.reset()
                }}
              >
                Keep mine
              </Button>
            </>
          }
        >
          Somebody else has changed the group meanwhile.
        </Notice>
      ) : (
        change.error && <Failure error={change.error} />
      )}
      {remove.error && <Failure error={remove.error} />}
      <label class="check">
        <input
          type="checkbox"
          checked={enabled}
          disabled={!may}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <span>Clients can call it</span>
      </label>
      <div ref={table} class="table-wrap" role="region" aria-label="Members" tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {['Member', 'Health', 'Weight', 'Share by weight', 'Priority', 'On', 'Actions'].map((label) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {members.map((one, at) => {
              const id = one.deployment_id ?? one.model_name ?? ''
              const number = (key: 'weight' | 'priority') => (
                <input
                  class="input figure"
                  type="number"
                  min={0}
                  aria-label={`${key} of ${id}`}
                  placeholder="its own"
                  disabled={!may}
                  value={one[key] ?? ''}
                  onInput={({ currentTarget: { value } }) =>
                    set(at, { [key]: value === '' ? undefined : Number(value) })
                  }
                />
              )
              return (
                <tr key={id}>
                  <td>
                    {id} {one.model_name && <span class="quiet">all deployments of the model</span>}
                  </td>
                  <td>
                    <HealthOf member={one} deployments={health.data?.deployments ?? []} />
                  </td>
                  <td>{number('weight')}</td>
                  <td>
                    {isKnown && one.enabled && all > 0 ? `${Math.round((100 * (one.weight ?? 1)) / all)} %` : '–'}
                  </td>
                  <td>{number('priority')}</td>
                  <td>
                    <label class="check">
                      <input
                        type="checkbox"
                        aria-label={`${id} takes calls`}
                        checked={one.enabled}
                        disabled={!may}
                        onChange={(event) => set(at, { enabled: event.currentTarget.checked })}
                      />
                      <span>takes calls</span>
                    </label>
                  </td>
                  <td>
                    {may && members.length > 1 && (
                      <Button small kind="plain" icon="close" label={`Take ${id} out`} onClick={() => takeOut(at)} />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {may && (
        <>
          <div class="bar">
            <Combobox
              label="Add a deployment or a model"
              placeholder="Add a deployment or a model"
              value=""
              search={candidates}
              onChange={(option) => {
                if (!option) return
                const [kind = '', ...rest] = option.value.split(' ')
                setMembers([...members, { [kind]: rest.join(' '), enabled: true } as Member])
              }}
            />
          </div>
          <footer class="form-foot">
            <Button kind="danger" busy={remove.isPending} onClick={ask}>
              Delete the group
            </Button>
            <Button kind="primary" disabled={!dirty} busy={change.isPending} onClick={save}>
              Save members
            </Button>
          </footer>
        </>
      )}
    </div>
  )
}

/** How a member is: a deployment in a word, a model by how many of its deployments are well. */
function HealthOf({
  member: { deployment_id: id, model_name: model },
  deployments,
}: {
  readonly member: Member
  readonly deployments: readonly HealthOfDeployment[]
}) {
  const own = deployments.filter((one) => (id ? one.deployment_id === id : one.model_name === model))
  const [only] = own
  if (!only) return <span class="quiet">–</span>
  if (id) return <StateOf deployment={only} />
  const well = own.filter(({ state }) => state === 'healthy').length
  return <State tone={well === own.length ? 'quiet' : 'warn'}>{`${well} of ${own.length} healthy`}</State>
}

/** Models and deployments by a part of their names; the value tells which of both it is. */
export async function candidates(search: string) {
  const { data } = await api('GET /ui/api/models', { query: { search, limit: 20 } })
  const models = [...new Set(data.map(({ model_name }) => model_name))]
  return [
    ...models.map((name) => ({ value: `model_name ${name}`, label: name, note: 'model' })),
    ...data.map(({ deployment_id: id }) => ({ value: `deployment_id ${id}`, label: id, note: 'deployment' })),
  ]
}

const clean = (member: Member): Member =>
  Object.fromEntries(Object.entries(member).filter(([, value]) => value !== undefined)) as Member
