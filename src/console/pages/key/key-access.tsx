import { useState } from 'preact/hooks'
import type { Answer } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi, useChange } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { AccessFields } from '../../design/form/access-fields.tsx'
import { SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { type Key, nameOf } from './key.ts'

type Access = Answer<'GET /ui/api/keys/{key_id}/model-access'>

/** The models that a key may call: its own rule, and the result under those of its team and organization. */
export function KeyAccess({ of: key, mayChange }: { readonly of: Key; readonly mayChange: boolean }) {
  const [editing, setEditing] = useState(false)
  const read = useApi('GET /ui/api/keys/{key_id}/model-access', { params: { key_id: key.key_id } })
  return (
    <Loaded of={read}>
      {(access) => (
        <>
          <Section
            title="Of the key itself"
            level={3}
            actions={
              mayChange && (
                <Button small onClick={() => setEditing(true)}>
                  Change
                </Button>
              )
            }
          >
            <Facts
              of={[
                ['Rule', rule(access)],
                ['Models', access.models.length > 0 ? access.models.join(', ') : undefined],
                ['Labels', access.access_groups.length > 0 ? access.access_groups.join(', ') : undefined],
                ['Addresses', key.allowed_ips?.join(', ') ?? <span class="quiet">any</span>],
              ]}
            />
          </Section>
          <Section title={`What it may call now: ${access.effective.length}`} level={3}>
            {access.effective.length === 0 ? (
              <p class="quiet">Nothing. The key, its team or its organization leaves no model.</p>
            ) : (
              <ul class="plain-list">
                {access.effective.map((name) => (
                  <li key={name}>
                    <a href={pathTo('models', { key_id: key.key_id, open: name })}>{name}</a>
                  </li>
                ))}
              </ul>
            )}
          </Section>
          {editing && <AccessDialog of={key} access={access} onClose={() => setEditing(false)} />}
        </>
      )}
    </Loaded>
  )
}

const RULES = [
  { value: 'inherit', label: 'Everything that its team may call' },
  { value: 'restrict', label: 'Only the models and labels below' },
]

function rule({ mode, models, access_groups: labels }: Access): string {
  return mode === 'restrict' || (mode === null && models.length + labels.length > 0)
    ? 'only these'
    : 'everything that its team may call'
}

function AccessDialog({
  of: key,
  access,
  onClose,
}: {
  readonly of: Key
  readonly access: Access
  readonly onClose: () => void
}) {
  const { mode, models, access_groups } = access
  const form = useForm({
    mode: mode ?? (models.length + access_groups.length > 0 ? 'restrict' : 'inherit'),
    models: models as readonly string[],
    access_groups: access_groups as readonly string[],
  })
  const replaced = useChange('PUT /ui/api/keys/{key_id}/model-access', {
    refreshes: ['/ui/api/keys', '/ui/api/callable'],
  })
  async function save(): Promise<void> {
    const { values } = form
    const done = await form.submit(() =>
      replaced.mutateAsync({
        params: { key_id: key.key_id },
        body: {
          mode: values.mode,
          models: [...values.models],
          access_groups: [...values.access_groups],
        },
      }),
    )
    if (!done) return
    toast('Saved. It holds from the next call on.')
    onClose()
  }
  return (
    <FormDialog form={form} title={`What ${nameOf(key)} may call`} save="Save" onSave={save} onClose={onClose}>
      <SelectField form={form} name="mode" label="Rule" options={RULES} />
      <AccessFields form={form} />
    </FormDialog>
  )
}
