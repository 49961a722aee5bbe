import { useState } from 'preact/hooks'
import { pathTo } from '../../data/params.ts'
import { useMay } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Section } from '../../design/page.tsx'
import { MemberRole } from '../place/member-role.tsx'
import { MembershipDialog } from './membership-dialog.tsx'
import type { Person } from './person.ts'

/** What somebody belongs to, with the roles there. */
export function Memberships({ person }: { readonly person: Person }) {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  return (
    <Section
      title="Member of"
      level={3}
      actions={
        (may('team.update') || may('org.update')) && (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Add
          </Button>
        )
      }
    >
      {person.memberships.length === 0 ? (
        <p class="quiet">No organization and no team. Calls and pages of a team need a membership.</p>
      ) : (
        <ul class="members">
          {person.memberships.map((place) => (
            <li key={`${place.scope}:${place.id}`}>
              <span>
                <Entity
                  id={place.id}
                  name={place.name}
                  href={pathTo(place.scope === 'team' ? 'teams' : 'organizations', { open: place.id })}
                />{' '}
                <span class="quiet small">{place.scope}</span>
              </span>
              <MemberRole place={place} member={{ user_id: person.user_id, label: person.email, role: place.role }} />
            </li>
          ))}
        </ul>
      )}
      {adding && <MembershipDialog person={person} onClose={() => setAdding(false)} />}
    </Section>
  )
}
