import { useRef } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { State } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { confirmed } from '../../design/confirmed.ts'
import { type HealthOfDeployment, StateOf } from '../../design/deployment-state.tsx'
import { Combobox } from '../../design/form/combobox.tsx'
import { Failure, Notice } from '../../design/states.tsx'
import { type EditedMembers, GROUPS, useEditedMembers } from './edited-members.ts'
import type { Group, Member } from './group.ts'

/** The deployments and models that share the calls of a group. */
export function Members({ group, onGone }: { readonly group: Group; readonly onGone: () => void }) {
  const may = useMay()('config.update')
  const { name } = group
  const edited = useEditedMembers(group)
  const { members, setMembers, change } = edited
  const remove = useChange('DELETE /ui/api/route-groups/{name}', { refreshes: GROUPS })
  async function ask(): Promise<void> {
    const sure = await confirmed({
      title: `Delete ${name}?`,
      body: 'Calls by this name are refused from then on; a model of the same name is back.',
      action: 'Delete',
      danger: true,
    })
    if (!sure) return
    edited.draft.isUnsaved = false
    remove.mutate({ params: { name } }, { onSuccess: onGone })
  }
  return (
    <div class="stack">
      {edited.isOutdated ? <ChangedMeanwhile edited={edited} /> : change.error && <Failure error={change.error} />}
      {remove.error && <Failure error={remove.error} />}
      <label class="check">
        <input
          type="checkbox"
          checked={edited.enabled}
          disabled={!may}
          onChange={(event) => edited.setEnabled(event.currentTarget.checked)}
        />
        <span>Clients can call it</span>
      </label>
      <MemberTable name={name} members={members} may={may} onChange={setMembers} />
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
            <Button kind="primary" disabled={!edited.dirty} busy={change.isPending} onClick={edited.save}>
              Save members
            </Button>
          </footer>
        </>
      )}
    </div>
  )
}

function ChangedMeanwhile({ edited }: { readonly edited: EditedMembers }) {
  return (
    <Notice
      tone="warn"
      actions={
        <>
          <Button small onClick={edited.loadTheirs}>
            Load theirs
          </Button>
          <Button small onClick={edited.keepMine}>
            Keep mine
          </Button>
        </>
      }
    >
      Somebody else has changed the group meanwhile.
    </Notice>
  )
}

function MemberTable({
  name,
  members,
  may,
  onChange,
}: {
  readonly name: string
  readonly members: readonly Member[]
  readonly may: boolean
  readonly onChange: (members: readonly Member[]) => void
}) {
  const health = useApi('GET /health/deployments', { query: { model: name } }, { live: 5 })
  // What a model has behind it, and what weight a deployment has of its own, is not told here: the simulation knows it.
  const isKnown = members.every(
    ({ enabled: on, weight, deployment_id }) => !on || (weight !== undefined && deployment_id),
  )
  const all = members.reduce((sum, { weight = 1, enabled: on }) => sum + (on ? weight : 0), 0)
  const table = useRef<HTMLDivElement>(null)
  /** The row takes its button with it: the focus goes to the table. */
  function takeOut(at: number): void {
    table.current?.focus()
    onChange(members.filter((_, index) => index !== at))
  }
  return (
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
          {members.map((one, at) => (
            <MemberRow
              key={idOf(one)}
              member={one}
              deployments={health.data?.deployments ?? []}
              percent={isKnown && one.enabled && all > 0 ? (100 * (one.weight ?? 1)) / all : undefined}
              may={may}
              onChange={(changes) =>
                onChange(members.map((other, index) => (index === at ? clean({ ...other, ...changes }) : other)))
              }
              onTakeOut={members.length > 1 ? () => takeOut(at) : undefined}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function MemberRow({
  member,
  deployments,
  percent,
  may,
  onChange,
  onTakeOut,
}: {
  readonly member: Member
  readonly deployments: readonly HealthOfDeployment[]
  /** Its share by weight; undefined: it cannot be told here. */
  readonly percent: number | undefined
  readonly may: boolean
  readonly onChange: (changes: Partial<Member>) => void
  readonly onTakeOut: (() => void) | undefined
}) {
  const id = idOf(member)
  const number = (key: 'weight' | 'priority') => (
    <input
      class="input figure"
      type="number"
      min={0}
      aria-label={`${key} of ${id}`}
      placeholder="its own"
      disabled={!may}
      value={member[key] ?? ''}
      onInput={({ currentTarget: { value } }) => onChange({ [key]: value === '' ? undefined : Number(value) })}
    />
  )
  return (
    <tr>
      <td>
        {id} {member.model_name && <span class="quiet">all deployments of the model</span>}
      </td>
      <td>
        <HealthOf member={member} deployments={deployments} />
      </td>
      <td>{number('weight')}</td>
      <td>{percent === undefined ? '–' : `${Math.round(percent)} %`}</td>
      <td>{number('priority')}</td>
      <td>
        <label class="check">
          <input
            type="checkbox"
            aria-label={`${id} takes calls`}
            checked={member.enabled}
            disabled={!may}
            onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
          />
          <span>takes calls</span>
        </label>
      </td>
      <td>
        {may && onTakeOut && <Button small kind="plain" icon="close" label={`Take ${id} out`} onClick={onTakeOut} />}
      </td>
    </tr>
  )
}

const idOf = ({ deployment_id: deployment, model_name: model }: Member) => deployment ?? model ?? ''

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
