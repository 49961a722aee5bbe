import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import type { Answer } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { written } from './config-keys.tsx'

type Checked = Answer<'POST /ui/api/config/check'>
type Mistake = Checked['mistakes'][number]
type Change = Checked['changes'][number]

const MISTAKES: ReadonlyArray<Column<Mistake>> = [
  { id: 'line', label: 'Line', number: true, cell: ({ line }) => line ?? '–' },
  { id: 'path', label: 'Field', cell: ({ path }) => <span class="mono">{path || 'the file'}</span> },
  { id: 'message', label: 'Mistake', cell: ({ message }) => message },
]
const CHANGES: ReadonlyArray<Column<Change>> = [
  { id: 'path', label: 'Field', cell: ({ path }) => <span class="mono">{path}</span> },
  { id: 'kind', label: 'Change', cell: ({ kind }) => kind },
  { id: 'old', label: 'Runs now', cell: ({ old }) => <span class="mono">{written(old)}</span> },
  { id: 'new', label: 'In the file', cell: ({ new: next }) => <span class="mono">{written(next)}</span> },
]

/** Reads a whole file as a start would, and says what would be different. Nothing is changed by it. */
export function ConfigCheck() {
  const form = useForm({ yaml: '' }, { asks: false })
  const [found, setFound] = useState<Checked>()
  const check = useChange('POST /ui/api/config/check')
  const send = () =>
    form.submit(async () => {
      // What was found before was of another file.
      setFound(undefined)
      setFound(await check.mutateAsync({ body: { yaml: form.values.yaml } }))
    })
  async function dropped(event: DragEvent): Promise<void> {
    const file = event.dataTransfer?.files[0]
    if (!file) return
    event.preventDefault()
    form.set('yaml', await file.text())
  }
  return (
    <>
      <form
        class="stack"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => void dropped(event)}
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <TextField
          form={form}
          name="yaml"
          label="gateway.yaml"
          hint="Paste a file, or drop it here. It is read with the environment of this process; nothing is changed."
          lines={14}
          mono
          placeholder={'model_list:\n  - model_name: …'}
        />
        {form.problem && (
          <p class="notice bad" role="alert">
            {form.problem}
          </p>
        )}
        <div class="row">
          <Button type="submit" kind="primary" busy={form.busy} disabled={form.values.yaml === ''}>
            Check
          </Button>
        </div>
      </form>
      {found && <Result of={found} />}
    </>
  )
}

function Result({ of }: { readonly of: Checked }) {
  const { ok, mistakes, notes, changes, models, deployments, more_changes: more } = of
  return (
    <>
      {ok ? (
        <Notice tone="ok">
          A gateway would start with it: {deployments} deployments of {models} models.
        </Notice>
      ) : (
        <Section title={mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`}>
          <Table
            name="mistakes"
            label="Mistakes"
            columns={MISTAKES}
            rows={mistakes}
            rowId={({ path, message }) => `${path} ${message}`}
          />
        </Section>
      )}
      {notes.map(({ path, message }) => (
        <Notice key={path + message} tone="warn">
          <span class="mono">{path}</span> {message}
        </Notice>
      ))}
      {ok && (
        <Section title="Differences from the running configuration">
          {changes.length === 0 ? (
            <p class="quiet">Nothing.</p>
          ) : (
            <Table name="changes" label="Changes" columns={CHANGES} rows={changes} rowId={({ path }) => path} />
          )}
          {more > 0 && <p class="quiet">And {more} more.</p>}
        </Section>
      )}
    </>
  )
}
