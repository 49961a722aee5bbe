import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { ButtonLink } from '../../design/button.tsx'
import { Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import type { PlaceOf } from './place.ts'
import { Spent } from './spent.tsx'

const MOST = 20

/** The keys that spend the most. */
export function PlaceKeys({ of: { scope, id } }: { readonly of: PlaceOf }) {
  const filter = { [`${scope}_id`]: id }
  const read = useApi('GET /ui/api/keys', { query: { ...filter, order: 'spend', limit: MOST } })
  return (
    <Section
      title="Keys"
      level={3}
      actions={
        <ButtonLink small href={pathTo('keys', filter)}>
          Open in Keys
        </ButtonLink>
      }
    >
      <Loaded of={read}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <p class="quiet">No keys yet.</p>
          ) : (
            <>
              <ul class="members">
                {data.map((key) => (
                  <li key={key.key_id}>
                    <a class="cut" href={pathTo('keys', { ...filter, open: key.key_id })}>
                      {key.key_name ?? key.key_id}
                    </a>
                    <span class="quiet small">
                      {key.state === 'active' ? (
                        <Ago at={key.last_used_at} never="never used" />
                      ) : (
                        key.state.replace('_', ' ')
                      )}
                    </span>
                    <Spent of={key} />
                  </li>
                ))}
              </ul>
              {next_cursor && <p class="quiet small">The {MOST} that spent the most.</p>}
            </>
          )
        }
      </Loaded>
    </Section>
  )
}
