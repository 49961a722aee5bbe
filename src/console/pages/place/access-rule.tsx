import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Answer, Input } from '../../data/client.ts'
import { useVersion } from '../../data/version.ts'
import { Button } from '../../design/button.tsx'
import { AccessFields } from '../../design/form/access-fields.tsx'
import { SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { toast } from '../../design/toast.tsx'

export type Access = Answer<'GET /ui/api/teams/{team_id}/model-access'>
type Rule = NonNullable<Input<'PUT /ui/api/teams/{team_id}/model-access'>['body']>

interface Props {
  readonly of: Access
  /** The name of the key, team or organization. */
  readonly name: string
  readonly title: string
  /** What it may call without a rule of its own: `everything that its team may call`. */
  readonly inherits: string
  /** Why it may call nothing, if so. */
  readonly reason: string
  readonly facts?: readonly (readonly [string, ComponentChildren])[]
  /** The address of a model that it may call. */
  readonly href?: (model: string) => string
  /** Replaces the rule; undefined: the person may not. */
  readonly onReplace: ((rule: Rule) => Promise<unknown>) | undefined
  /** Reads the present rule. */
  readonly onRead: () => Promise<Access>
}

/** The paths of what shows a rule. */
const REFRESHES = ['/ui/api/keys', '/ui/api/teams', '/ui/api/organizations', '/ui/api/callable']

export const isRestricted = ({ mode, models, access_groups: labels }: Access) =>
  mode === 'restrict' || (mode === null && models.length + labels.length > 0)

/** The models that a key, a team or an organization may call: its own rule, and the result under those above it. */
export function AccessRule({ of: access, name, title, inherits, reason, facts = [], href, onReplace, onRead }: Props) {
  const [editing, setEditing] = useState(false)
  const { models, access_groups: labels, effective } = access
  return (
    <>
      <Section
        title={title}
        level={3}
        actions={
          onReplace && (
            <Button small onClick={() => setEditing(true)}>
              Change
            </Button>
          )
        }
      >
        <Facts
          of={[
            ['May call', isRestricted(access) ? 'only these' : inherits],
            ['Models', models.length > 0 ? models.join(', ') : undefined],
            ['Labels', labels.length > 0 ? labels.join(', ') : undefined],
            ...facts,
          ]}
        />
      </Section>
      <Section title={`In effect now: ${effective.length}`} level={3}>
        {effective.length === 0 ? (
          <p class="quiet">Nothing. {reason}</p>
        ) : (
          <ul class="plain-list">
            {effective.map((model) => (
              <li key={model}>{href ? <a href={href(model)}>{model}</a> : model}</li>
            ))}
          </ul>
        )}
      </Section>
      {editing && onReplace && (
        <RuleDialog {...{ access, name, inherits, onReplace, onRead }} onClose={() => setEditing(false)} />
      )}
    </>
  )
}

function RuleDialog({
  access,
  name,
  inherits,
  onReplace,
  onRead,
  onClose,
}: {
  readonly access: Access
  readonly name: string
  readonly inherits: string
  readonly onReplace: (rule: Rule) => Promise<unknown>
  readonly onRead: () => Promise<Access>
  readonly onClose: () => void
}) {
  const form = useForm({
    mode: isRestricted(access) ? ('restrict' as const) : ('inherit' as const),
    models: access.models as readonly string[],
    access_groups: access.access_groups as readonly string[],
  })
  const over = useVersion(access, REFRESHES, onRead)
  async function save(): Promise<void> {
    const { mode, models, access_groups } = form.values
    const rule = { mode, models: [...models], access_groups: [...access_groups] }
    if (!(await form.submit(() => over((version) => onReplace({ ...rule, version }))))) return
    toast('Saved. It applies from the next call on.')
    onClose()
  }
  return (
    <FormDialog form={form} title={`What ${name} may call`} save="Save" onSave={save} onClose={onClose}>
      <SelectField
        form={form}
        name="mode"
        label="Rule"
        options={[
          { value: 'inherit', label: `E${inherits.slice(1)}` },
          { value: 'restrict', label: 'Only the models and labels below' },
        ]}
      />
      <AccessFields form={form} />
    </FormDialog>
  )
}
