import { api } from '../../data/client.ts'
import { type Lookup, lookups } from '../../data/lookups.ts'
import { may, useMay, useSession } from '../../data/session.ts'
import { LookupField, SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { toast } from '../../design/toast.tsx'
import { giveRole, refreshPeople } from '../place/member-role.tsx'
import { explained, roleName, rolesToGive } from '../place/roles.ts'
import type { Person } from './person.ts'

/** Makes somebody a member of an organization or of a team. */
export function MembershipDialog({ person, onClose }: { readonly person: Person; readonly onClose: () => void }) {
  const session = useSession()
  const mayAt = useMay()
  const form = useForm<{ readonly scope: 'team' | 'organization'; readonly id: string | null; readonly role: string }>({
    scope: 'team',
    id: null,
    role: 'team_developer',
  })
  const { scope, id, role } = form.values
  const changing = {
    ...form,
    set(name: 'scope', value: typeof scope) {
      form.set(name, value)
      form.set('id', null)
      form.set('role', value === 'team' ? 'team_developer' : 'org_member')
    },
  } as typeof form
  const places: Lookup = {
    async search(search) {
      if (scope === 'team') {
        const { data } = await api('GET /ui/api/teams', { query: { search, limit: 50 } })
        return data
          .filter((team) => may(session, 'team.update', team))
          .map((team) => ({
            value: team.team_id,
            label: team.team_name ?? team.team_id,
            note: team.organization_name ?? undefined,
          }))
      }
      const { data } = await api('GET /ui/api/organizations', { query: { search, limit: 50 } })
      return data
        .filter((one) => may(session, 'org.update', one))
        .map((one) => ({ value: one.organization_id, label: one.organization_name ?? one.organization_id }))
    },
    name: (one) => lookups[scope].name(one),
  }
  async function add(): Promise<void> {
    const done = await form.submit(async () => {
      if (!id) throw Object.assign(new Error('Choose where.'), { param: 'id' })
      await giveRole({ scope, id }, person.user_id, role)
    })
    if (!done || !id) return
    await refreshPeople()
    toast(`${person.email} is ${roleName(role)} of ${await lookups[scope].name(id)}.`)
    onClose()
  }
  return (
    <FormDialog form={form} title={`Add ${person.email}`} save="Add" onSave={add} onClose={onClose} always>
      {mayAt('org.update') && (
        <SelectField
          form={changing}
          name="scope"
          label="To"
          options={[
            { value: 'team', label: 'a team' },
            { value: 'organization', label: 'an organization' },
          ]}
        />
      )}
      <LookupField
        key={scope}
        form={form}
        name="id"
        label={scope === 'team' ? 'Team' : 'Organization'}
        lookup={places}
        placeholder="Type its name"
      />
      <SelectField form={form} name="role" label="Role" options={explained(rolesToGive(session, scope, id))} />
    </FormDialog>
  )
}
