import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { type Policy, SETTINGS, type Simulation, settingWords } from './group.ts'

/** A setting that publishing the draft changes. */
interface Change {
  readonly label: string
  readonly now: string | undefined
  readonly next: string | undefined
}

/** Asks before a draft is published, with what it changes. */
export function PublishDialog({
  name,
  changes,
  simulation,
  busy,
  onClose,
  onPublish,
}: {
  readonly name: string
  readonly changes: readonly Change[]
  readonly simulation: Simulation | undefined
  readonly busy: boolean
  readonly onClose: () => void
  readonly onPublish: () => void
}) {
  return (
    <Dialog
      title={`Publish the policy of ${name}?`}
      wide
      onClose={onClose}
      onSubmit={onPublish}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Publish
          </Button>
        </>
      }
    >
      <Table name="policy-diff" label="What changes" columns={DIFF} rows={changes} rowId={({ label }) => label} />
      {simulation && simulation.unserved > 0 && (
        <Notice tone="warn">
          {simulation.unserved} of {simulation.calls} simulated calls find no deployment.
        </Notice>
      )}
      <p class="quiet">It is in force everywhere within five seconds. The history can roll it back.</p>
    </Dialog>
  )
}

const INHERITED = <span class="quiet">inherited</span>
const DIFF: ReadonlyArray<Column<Change>> = [
  { id: 'label', label: 'Setting', cell: ({ label }) => label },
  { id: 'now', label: 'In force', cell: ({ now }) => now ?? INHERITED },
  { id: 'next', label: 'Becomes', cell: ({ next }) => next ?? INHERITED },
]

/** The settings that differ between two policies. */
export const changesOf = (now: Policy, next: Policy): readonly Change[] =>
  SETTINGS.map(([key, label, unit]) => ({
    label,
    now: settingWords(now[key], unit),
    next: settingWords(next[key], unit),
  })).filter((line) => line.now !== line.next)
