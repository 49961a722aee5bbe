import { Button } from '../../design/button.tsx'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import type { Deployment } from './deployment.ts'
import { type Draft, draftOf, labelOf } from './draft.ts'

interface Change {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

const SECRETS = ['api_key', 'aws_secret_access_key', 'aws_session_token']

const COLUMNS: ReadonlyArray<Column<Change>> = [
  { id: 'name', label: 'Setting', cell: ({ name }) => labelOf(name) },
  { id: 'before', label: 'Is', cell: ({ name, before }) => <Value name={name} of={before} isOld /> },
  { id: 'after', label: 'Becomes', cell: ({ name, after }) => <Value name={name} of={after} /> },
]

/** What saving would change. */
export function Changes({ before, after }: { readonly before: Draft; readonly after: Draft }) {
  return (
    <Section title="What changes">
      <Table
        name="changes"
        label="What changes"
        columns={COLUMNS}
        rows={changesOf(before, after)}
        rowId={({ name }) => name}
      />
    </Section>
  )
}

/** Somebody else has saved meanwhile: what, and whose holds. */
export function Conflict({
  before,
  theirs,
  onMine,
  onTheirs,
}: {
  readonly before: Deployment
  readonly theirs: Deployment
  readonly onMine: () => void
  readonly onTheirs: () => void
}) {
  const changes = changesOf(draftOf(before), draftOf(theirs))
  return (
    <Section title="Somebody else has changed it meanwhile">
      <Notice
        tone="warn"
        actions={
          <>
            <Button small onClick={onTheirs}>
              Drop mine
            </Button>
            <Button small onClick={onMine}>
              Save mine over it
            </Button>
          </>
        }
      >
        Only the settings that you changed are written; where both changed the same one, yours wins.
      </Notice>
      {changes.length > 0 && (
        <Table name="theirs" label="Their changes" columns={COLUMNS} rows={changes} rowId={({ name }) => name} />
      )}
    </Section>
  )
}

const changesOf = (before: Draft, after: Draft): readonly Change[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name] ?? '') !== JSON.stringify(after[name] ?? ''))
    .map((name) => ({ name, before: before[name], after: after[name] }))

function Value({ name, of, isOld = false }: { readonly name: string; readonly of: unknown; readonly isOld?: boolean }) {
  if (SECRETS.includes(name)) return <span class="quiet">{isOld ? 'what is kept' : 'replaced'}</span>
  if (of === null || of === undefined || of === '') return <span class="quiet">not set</span>
  return <span class="mono">{String(of)}</span>
}
