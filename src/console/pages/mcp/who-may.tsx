import { useEffect, useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { type Lookup, lookups } from '../../data/lookups.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { type Permission, useMay, useSession } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { LookupField, SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'

type Binding = Row<'GET /ui/api/callable-target-bindings'>
type Scope = Binding['scope_type']

const MOST = 50
const AFTER = { refreshes: ['/ui/api/callable-target-bindings'] }

interface ScopeKind {
  readonly label: string
  readonly page: string
  readonly lookup: Lookup
  /** What who changes its bindings must have. */
  readonly needs: Permission
}

const SCOPES: Readonly<Record<Scope, ScopeKind>> = {
  organization: { label: 'Organization', page: 'organizations', lookup: lookups.organization, needs: 'org.update' },
  team: { label: 'Team', page: 'teams', lookup: lookups.team, needs: 'team.update' },
  user: { label: 'Person', page: 'people', lookup: lookups.user, needs: 'user.update' },
  api_key: { label: 'Key', page: 'keys', lookup: lookups.key, needs: 'key.update' },
}

/** To whom a server is bound: they may use it, and no server that is not bound to them. */
export function WhoMay({ server }: { readonly server: string }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const query = { callable_kind: 'mcp_server', callable_key: server, limit: MOST } as const
  const read = useApi('GET /ui/api/callable-target-bindings', { query })
  return (
    <Section
      title="Bound to"
      level={3}
      actions={
        may('team.update') && (
          <Button small onClick={() => setAdding(true)}>
            Bind
          </Button>
        )
      }
    >
      <Loaded of={read} lines={1}>
        {({ data, next_cursor: more }) => (
          <>
            <p class="quiet">
              {data.length === 0
                ? 'It is bound to no one: everyone who is not bound to other servers may use it.'
                : 'These may use it, and no server that is not bound to them. All others may use it too, unless they are bound to other servers.'}
            </p>
            <ul class="plain-list">
              {data.map((binding) => (
                <Bound key={binding.binding_id} binding={binding} />
              ))}
            </ul>
            {more !== null && <p class="quiet">And more than these {MOST}.</p>}
          </>
        )}
      </Loaded>
      {adding && <BindDialog server={server} onClose={() => setAdding(false)} />}
    </Section>
  )
}

function Bound({ binding }: { readonly binding: Binding }) {
  const { binding_id, scope_type: type, scope_id: id, enabled } = binding
  const { label, page, lookup, needs }: ScopeKind = SCOPES[type]
  const may = useMay()
  const { pages } = useSession()
  const [name, setName] = useState<string>()
  const remove = useChange('DELETE /ui/api/callable-target-bindings/{binding_id}', AFTER)
  useEffect(() => {
    if (!lookup.needs || may(lookup.needs)) void lookup.name(id).then(setName)
  }, [id])
  async function ask(): Promise<void> {
    const question = {
      title: `Take it from ${name ?? id}?`,
      body: 'If no other server is bound to it, it may again use every server that the scopes above it allow.',
      action: 'Take away',
      danger: true,
      done: 'Saved. It applies from the next call on.',
    }
    await performed(question, () => remove.mutateAsync({ params: { binding_id } }))
  }
  return (
    <li class="row">
      <span class="quiet">{label}</span>
      <span class="grow">
        <Entity id={id} name={name} href={pages.includes(page) ? pathTo(page, { open: id }) : undefined} />
        {!enabled && <span class="quiet"> switched off</span>}
      </span>
      {may(needs) && (
        <Button small kind="plain" icon="close" label={`Take it from ${name ?? id}`} onClick={() => void ask()} />
      )}
    </li>
  )
}

function BindDialog({ server, onClose }: { readonly server: string; readonly onClose: () => void }) {
  const may = useMay()
  const types = (Object.keys(SCOPES) as Scope[]).filter((type) => may(SCOPES[type].needs))
  const form = useForm({ scope_type: 'team' as Scope, scope_id: null as string | null })
  const add = useChange('POST /ui/api/callable-target-bindings', AFTER)
  const { scope_type: type, scope_id: id } = form.values
  async function save(): Promise<void> {
    const done = await form.submit(() =>
      add.mutateAsync({
        body: { scope_type: type, scope_id: id ?? '', callable_kind: 'mcp_server', callable_key: server },
      }),
    )
    if (!done) return
    toast('Saved. It applies from the next call on.')
    onClose()
  }
  return (
    <FormDialog form={form} title={`Bind ${server}`} save="Bind" onSave={save} onClose={onClose}>
      <SelectField
        form={form}
        name="scope_type"
        label="To"
        options={types.map((value) => ({ value, label: SCOPES[value].label }))}
      />
      <LookupField
        key={type}
        form={form}
        name="scope_id"
        label={SCOPES[type].label}
        lookup={SCOPES[type].lookup}
        hint="It may then use this server, and no other that is not bound to it. Models are bound separately."
      />
    </FormDialog>
  )
}
