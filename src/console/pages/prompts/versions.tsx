import { usePages } from '../../data/paging.ts'
import { useParams } from '../../data/params.ts'
import { Badge } from '../../design/badge.tsx'
import { Section } from '../../design/page.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { Diff } from './diff.tsx'
import { labelsOf, type Prompt, type VersionSummary } from './prompt.ts'
import { VersionSelect } from './version-select.tsx'

/** All versions, and what is different between two of them. */
export function Versions({ prompt }: { readonly prompt: Prompt }) {
  const params = useParams()
  const { key, latest } = prompt
  const list = usePages('GET /ui/api/prompts/{key}/versions', { params: { key } })
  const to = Number(params.get('to')) || latest
  const from = Number(params.get('from')) || Math.max(1, to - 1)
  const textOf = (version: number) => params.with({ tab: undefined, version: String(version) })
  const columns: ReadonlyArray<Column<VersionSummary>> = [
    {
      id: 'version',
      label: 'Version',
      cell: ({ version }) => version,
    },
    {
      id: 'labels',
      label: 'Labels',
      cell: ({ version }) =>
        labelsOf(prompt, version).map((label) => (
          <span key={label}>
            <Badge>{label}</Badge>{' '}
          </span>
        )),
    },
    { id: 'note', label: 'Note', cell: ({ note }) => <span title={note}>{note}</span> },
    {
      id: 'by',
      label: 'By',
      cell: ({ created_by: by }) => <span title={by}>{by.replace('master_key', 'Master key')}</span>,
    },
    { id: 'at', label: 'Written', cell: ({ created_at: at }) => <Ago at={at} /> },
  ]
  return (
    <>
      <Section title="Difference" level={3}>
        {latest === 1 ? (
          <p class="quiet">There is one version, so there is nothing to compare it with.</p>
        ) : (
          <>
            <div class="bar">
              <VersionSelect
                label="From"
                prompt={prompt}
                value={from}
                onChange={(version) => params.set({ from: String(version), to: String(to) }, { replace: true })}
              />
              <VersionSelect
                label="to"
                prompt={prompt}
                value={to}
                onChange={(version) => params.set({ from: String(from), to: String(version) }, { replace: true })}
              />
            </div>
            <Diff prompt={prompt} from={from} to={to} />
          </>
        )}
      </Section>
      <Section title="All versions" level={3}>
        <ListTable
          name="prompt-versions"
          label="Versions"
          list={list}
          columns={columns}
          rowId={({ version }) => String(version)}
          href={({ version }) => textOf(version)}
          empty={null}
        />
      </Section>
    </>
  )
}
