import { useState } from 'preact/hooks'
import type { Answer } from '../../data/client.ts'
import { useApi, useChange } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { AccessFields } from '../../design/form/access-fields.tsx'
import { SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { mayManage } from './member-role.tsx'
import { type PlaceOf, routesOf } from './place.ts'

type Access = Answer<'GET /ui/api/teams/{team_id}/model-access'>

const above = ({ scope }: PlaceOf) =>
  scope === 'team' ? 'everything that its organization may call' : 'everything that the gateway serves'

const narrows = ({ mode, models, access_groups: labels }: Access) =>
  mode === 'restrict' || (mode === null && models.length + labels.length > 0)

/** The models that an organization or a team may call: its own rule, and the result under that of its organization. */
export function PlaceAccess({ of: place }: { readonly of: PlaceOf }) {
  const session = useSession()
  const [editing, setEditing] = useState(false)
  const { access: route, params } = routesOf(place)
  const read = useApi(route, { params })
  return (
    <Loaded of={read}>
      {(access) => (
        <>
          <Section
            title={`Rule of the ${place.scope}`}
            level={3}
            actions={
              mayManage(session, place) && (
                <Button small onClick={() => setEditing(true)}>
                  Change
                </Button>
              )
            }
          >
            <Facts
              of={[
                ['May call', narrows(access) ? 'only these' : above(place)],
                ['Models', access.models.length > 0 ? access.models.join(', ') : undefined],
                ['Labels', access.access_groups.length > 0 ? access.access_groups.join(', ') : undefined],
              ]}
            />
          </Section>
          <Section title={`In effect now: ${access.effective.length}`} level={3}>
            {access.effective.length === 0 ? (
              <p class="quiet">Nothing. The {place.scope}, or what is above it, leaves no model.</p>
            ) : (
              <ul class="plain-list">
                {access.effective.map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
            )}
          </Section>
          {editing && <AccessDialog of={place} access={access} onClose={() => setEditing(false)} />}
        </>
      )}
    </Loaded>
  )
}

function AccessDialog({
  of: place,
  access,
  onClose,
}: {
  readonly of: PlaceOf
  readonly access: Access
  readonly onClose: () => void
}) {
  const { putAccess, params } = routesOf(place)
  const form = useForm({
    mode: narrows(access) ? ('restrict' as const) : ('inherit' as const),
    models: access.models as readonly string[],
    access_groups: access.access_groups as readonly string[],
  })
  const replaced = useChange(putAccess, { refreshes: ['/ui/api/teams', '/ui/api/organizations', '/ui/api/callable'] })
  async function save(): Promise<void> {
    const { mode, models, access_groups } = form.values
    const done = await form.submit(() =>
      replaced.mutateAsync({ params, body: { mode, models: [...models], access_groups: [...access_groups] } }),
    )
    if (!done) return
    toast('Saved. It holds from the next call on.')
    onClose()
  }
  const everything = above(place)
  return (
    <FormDialog
      form={form}
      title={`What ${place.name ?? place.id} may call`}
      save="Save"
      onSave={save}
      onClose={onClose}
    >
      <SelectField
        form={form}
        name="mode"
        label="May call"
        options={[
          { value: 'inherit', label: `E${everything.slice(1)}` },
          { value: 'restrict', label: 'Only the models and labels below' },
        ]}
      />
      <AccessFields form={form} />
    </FormDialog>
  )
}
