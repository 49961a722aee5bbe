import { useState } from 'preact/hooks'
import { lookups } from '../../data/lookups.ts'
import { usePages } from '../../data/paging.ts'
import { pathTo } from '../../data/params.ts'
import { useMay, useSession } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { LookupField, SelectField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { Section } from '../../design/page.tsx'
import { Failure, Loading } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { giveRole, MemberRole, mayManage, refreshPeople } from './member-role.tsx'
import { type PlaceOf, routesOf } from './place.ts'
import { explained, rolesToGive } from './roles.ts'

/** Who belongs to an organization or a team. */
export function PlaceMembers({ of: place }: { readonly of: PlaceOf }) {
  const session = useSession()
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const { members, params } = routesOf(place)
  const list = usePages(members, { params })
  return (
    <Section
      title="Members"
      level={3}
      actions={
        mayManage(session, place) &&
        may('user.read') && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Add
          </Button>
        )
      }
    >
      {list.error && <Failure error={list.error} retry={list.refresh} readAt={list.readAt} />}
      {list.pending && !list.error && <Loading />}
      {!list.pending && list.rows.length === 0 && <p class="quiet">Nobody yet.</p>}
      <ul class="members">
        {list.rows.map(({ user_id, user_email, user_name, role }) => (
          <li key={user_id}>
            <Entity
              id={user_id}
              name={user_name ?? user_email}
              href={may('user.read') ? pathTo('people', { search: user_email ?? user_id }) : undefined}
            />
            <MemberRole place={place} member={{ user_id, label: user_name ?? user_email ?? user_id, role }} />
          </li>
        ))}
      </ul>
      {list.more === 'more' && (
        <div class="row">
          <Button small busy={list.loadingMore} onClick={list.loadMore}>
            Load 100 more
          </Button>
        </div>
      )}
      {adding && <AddMember to={place} onClose={() => setAdding(false)} />}
    </Section>
  )
}

function AddMember({ to: place, onClose }: { readonly to: PlaceOf; readonly onClose: () => void }) {
  const session = useSession()
  const { scope, id, name } = place
  const form = useForm<{ readonly user_id: string | null; readonly role: string }>({
    user_id: null,
    role: scope === 'team' ? 'team_developer' : 'org_member',
  })
  async function add(): Promise<void> {
    const { user_id, role } = form.values
    const done = await form.submit(async () => {
      if (!user_id) throw Object.assign(new Error('Choose somebody.'), { param: 'user_id' })
      await giveRole(place, user_id, role)
    })
    if (!done || !user_id) return
    await refreshPeople()
    toast(`${await lookups.user.name(user_id)} is a member of ${name ?? id}.`)
    onClose()
  }
  return (
    <FormDialog form={form} title={`Add to ${name ?? id}`} save="Add" onSave={add} onClose={onClose} always>
      <LookupField
        form={form}
        name="user_id"
        label="Person"
        lookup={lookups.user}
        placeholder="Type a name or an address"
        hint="Somebody who is not here yet is invited under People."
      />
      <SelectField form={form} name="role" label="Role" options={explained(rolesToGive(session, scope, id))} />
    </FormDialog>
  )
}
