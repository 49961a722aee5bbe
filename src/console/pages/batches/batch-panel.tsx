import { useChange } from '../../data/change.ts'
import { addressOf } from '../../data/client.ts'
import { pathTo } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useMay } from '../../data/session.ts'
import { Entity } from '../../design/badge.tsx'
import { Button, ButtonLink } from '../../design/button.tsx'
import { performed } from '../../design/confirmed.ts'
import { count, money } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Loaded, Notice } from '../../design/states.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago, Moment } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'
import { BatchState, isOver, Progress, type WholeBatch } from './batch.tsx'
import { Items } from './items.tsx'

const AFTER = { refreshes: ['/ui/api/batches'] }
const LIVE_SECONDS = 5

type Mistake = WholeBatch['errors'][number]
const MISTAKES: ReadonlyArray<Column<Mistake>> = [
  { id: 'line', label: 'Line', number: true, cell: ({ line }) => line ?? '–' },
  { id: 'field', label: 'Field', cell: ({ param }) => <span class="mono">{param ?? '–'}</span> },
  { id: 'message', label: 'Mistake', cell: ({ message }) => message },
]

/** One batch: how far it is, what is wrong with its lines, its files, and what became of each request. */
export function BatchPanel({
  id,
  onClose,
  onOpen,
}: {
  readonly id: string
  readonly onClose: () => void
  readonly onOpen: (id: string) => void
}) {
  const may = useMay()
  const one = { params: { batch_id: id } }
  const read = useApi('GET /ui/api/batches/{batch_id}', one, { live: LIVE_SECONDS })
  const cancel = useChange('POST /ui/api/batches/{batch_id}/cancel', AFTER)
  const retry = useChange('POST /ui/api/batches/{batch_id}/retry-failed', AFTER)
  const { data: batch } = read
  const mayChange =
    batch !== undefined && may('key.update', { team_id: batch.team_id, organization_id: batch.organization_id })
  const stoppable = batch?.status === 'validating' || batch?.status === 'in_progress'
  const runsAgain = batch !== undefined && isOver(batch) && batch.progress.failed > 0
  async function stop(): Promise<void> {
    const question = {
      title: 'Cancel this batch?',
      body: 'Running requests end and are paid; the others are not called. A cancelled batch cannot be resumed.',
      action: 'Cancel the batch',
      danger: true,
      done: 'It is being cancelled.',
    }
    await performed(question, () => cancel.mutateAsync(one))
  }
  const again = () =>
    retry.mutate(one, {
      onSuccess: (made) => {
        toast('A new batch runs the failed requests.')
        onOpen(made.id)
      },
      onError: (error) => toast(error.message, { bad: true }),
    })
  return (
    <Panel
      title={<span class="mono">{id}</span>}
      onClose={onClose}
      footer={
        mayChange &&
        (stoppable || runsAgain) && (
          <>
            {stoppable && (
              <Button kind="danger" busy={cancel.isPending} onClick={() => void stop()}>
                Cancel the batch
              </Button>
            )}
            {runsAgain && (
              <Button busy={retry.isPending} onClick={again}>
                Run the failed again
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded of={read}>
        {(whole) => (
          <>
            {whole.progress.total > 0 && <Progress batch={whole} full />}
            {whole.oldest_error && !isOver(whole) && (
              <Notice tone="warn">
                {whole.oldest_error.custom_id ?? `Request ${whole.oldest_error.item}`} is tried again:{' '}
                {whole.oldest_error.error}
              </Notice>
            )}
            {whole.errors.length > 0 && (
              <Section title="Mistakes in the file" level={3}>
                <Table
                  name="batch-mistakes"
                  label="Mistakes"
                  columns={MISTAKES}
                  rows={whole.errors}
                  rowId={({ line, param, message }) => `${line} ${param} ${message}`}
                />
              </Section>
            )}
            <Files of={whole} />
            <About of={whole} onOpen={onOpen} />
            {whole.progress.total > 0 && (
              <Section title="Requests" level={3}>
                <Items batch={id} live={isOver(whole) ? undefined : LIVE_SECONDS} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function Files({ of: { id, output_file_id: output, error_file_id: errors } }: { readonly of: WholeBatch }) {
  const file = (name: 'input' | 'output' | 'errors') =>
    addressOf('GET /ui/api/batches/{batch_id}/files/{file}', { params: { batch_id: id, file: name } })
  return (
    <div class="row">
      <ButtonLink small download href={file('input')}>
        Input
      </ButtonLink>
      {output && (
        <ButtonLink small download href={file('output')}>
          Answers
        </ButtonLink>
      )}
      {errors && (
        <ButtonLink small download href={file('errors')}>
          Errors
        </ButtonLink>
      )}
    </div>
  )
}

function About({ of, onOpen }: { readonly of: WholeBatch; readonly onOpen: (id: string) => void }) {
  const { retry_of: before } = of
  return (
    <Section title="About" level={3}>
      <Facts
        of={[
          ['State', <BatchState batch={of} />],
          ['Endpoint', <span class="mono">{of.endpoint}</span>],
          ['Model', of.model ?? undefined],
          ['Key', <Entity name={of.key_name} id={of.key_id} href={pathTo('keys', { open: of.key_id })} />],
          [
            'Team',
            of.team_id === null ? undefined : (
              <Entity name={of.team_name} id={of.team_id} href={pathTo('teams', { open: of.team_id })} />
            ),
          ],
          ['Cost', money(of.cost)],
          ['Tokens', `${count(of.input_tokens)} in, ${count(of.output_tokens)} out`],
          ['Pace', isOver(of) ? undefined : `${count(of.items_per_minute)} a minute`],
          ['Begun', <Moment at={of.created_at} />],
          ['Ended', of.ended_at === null ? undefined : <Moment at={of.ended_at} />],
          ['Will end', of.estimated_end === null || isOver(of) ? undefined : <Ago at={of.estimated_end} />],
          ['Must end', isOver(of) ? undefined : <Ago at={of.expires_at} />],
          [
            'Runs again',
            before === null ? undefined : (
              <button type="button" class="link mono" onClick={() => onOpen(before)}>
                {before}
              </button>
            ),
          ],
        ]}
      />
    </Section>
  )
}
