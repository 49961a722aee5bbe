import { useLocation } from 'preact-iso/router'
import type { Row } from '../data/client.ts'
import { lookups } from '../data/lookups.ts'
import { useApi } from '../data/query.ts'
import { lookAs } from '../data/seen-as.ts'
import { type Session, useSession } from '../data/session.ts'
import { LookupField, SelectField } from '../design/form/fields.tsx'
import { useForm } from '../design/form/form.tsx'
import { FormDialog } from '../design/form/form-dialog.tsx'
import { roleName } from '../pages/place/roles.ts'
import { overlay } from './overlay.ts'

const close = () => overlay.set('')

/** Chooses a role in an organization or team, as whose holder the console is looked at. */
export function ViewAs() {
  const session = useSession()
  const { route } = useLocation()
  const { data: roles } = useApi('GET /ui/api/roles')
  const form = useForm<{ readonly role: string; readonly id: string | null }>(
    { role: 'team_viewer', id: null },
    { asks: false },
  )
  const { role, id } = form.values
  const chosen = roles?.data.find((one) => one.role === role)
  const scope = chosen?.scope ?? 'team'
  const changing = {
    ...form,
    set(name: 'role', value: string) {
      form.set(name, value)
      // A team is no organization.
      if (roles?.data.find((one) => one.role === value)?.scope !== scope) form.set('id', null)
    },
  } as typeof form

  async function view(): Promise<void> {
    const done = await form.submit(async () => {
      if (!id || !chosen) throw Object.assign(new Error('Choose where.'), { param: 'id' })
      const name = await lookups[scope].name(id)
      lookAs(`${roleName(role)} of ${name}`, {
        session: asHeldBy(session, chosen, { id, name }),
        scope: scope === 'team' ? { team_id: id } : { organization_id: id },
      })
    })
    if (!done) return
    close()
    route('/console')
  }
  return (
    <FormDialog form={form} title="View as a role" save="View" onSave={view} onClose={close} always>
      <p class="quiet">
        Shows the pages and actions of a person with this role alone. Nothing can be changed meanwhile.
      </p>
      <SelectField
        form={changing}
        name="role"
        label="Role"
        options={(roles?.data ?? []).map((one) => ({
          value: one.role,
          label: `${roleName(one.role)} of ${one.scope === 'team' ? 'a team' : 'an organization'}`,
        }))}
      />
      <LookupField
        key={scope}
        form={form}
        name="id"
        label={scope === 'team' ? 'Team' : 'Organization'}
        lookup={lookups[scope]}
        placeholder="Type its name"
      />
    </FormDialog>
  )
}

/** The session of somebody who has a role at a place, and nothing else. */
function asHeldBy(
  session: Session,
  { role, scope, permissions, pages }: Row<'GET /ui/api/roles'>,
  place: { readonly id: string; readonly name: string },
): Session {
  const held = { ...place, role, permissions }
  return {
    ...session,
    role: 'org_user',
    permissions: [],
    organizations: scope === 'organization' ? [held] : [],
    teams: scope === 'team' ? [{ ...held, organization_id: null }] : [],
    pages,
  }
}
