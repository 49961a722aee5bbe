import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { usePages } from '../../data/paging.ts'
import { useMay } from '../../data/session.ts'
import { Button } from '../../design/button.tsx'
import { count } from '../../design/format.ts'
import { Section } from '../../design/page.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'

type Letter = Row<'GET /ui/api/dead-letters'>

const COLUMNS: ReadonlyArray<Column<Letter>> = [
  { id: 'topic', label: 'Records of', cell: ({ topic }) => topic.replaceAll('_', ' ') },
  { id: 'died', label: 'Refused', cell: ({ died_at: at }) => <Ago at={at} /> },
  { id: 'error', label: 'Reason', cell: ({ error }) => <span class="wraps">{error}</span> },
]

/** What the database refused because of its content; nothing while there is none. */
export function DeadLetters() {
  const may = useMay()
  const list = usePages('GET /ui/api/dead-letters', {}, { live: 10 })
  const replay = useChange('POST /ui/api/dead-letters/replay', { refreshes: ['/ui/api/dead-letters', '/health'] })
  if (list.rows.length === 0 && !list.error) return null
  const write = () =>
    replay.mutate(
      { body: { limit: 100 } },
      {
        onSuccess: ({ replayed, refused }) =>
          toast(`${count(replayed)} written, ${count(refused.length)} refused again`, { bad: refused.length > 0 }),
        onError: (error) => toast(error.message, { bad: true }),
      },
    )
  return (
    <Section
      title="Dead letters"
      actions={
        may('config.update') && (
          <Button busy={replay.isPending} onClick={write}>
            Write them again
          </Button>
        )
      }
    >
      <p class="quiet">Records that the database refused because of their content, oldest first.</p>
      <ListTable
        name="dead-letters"
        label="Dead letters"
        columns={COLUMNS}
        list={list}
        rowId={({ letter_id: id }) => id}
        empty={null}
      />
    </Section>
  )
}
