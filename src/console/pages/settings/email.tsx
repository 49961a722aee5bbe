import { useChange } from '../../data/change.ts'
import type { Row } from '../../data/client.ts'
import { usePages } from '../../data/paging.ts'
import { useApi } from '../../data/query.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { Section } from '../../design/page.tsx'
import { Empty, Notice } from '../../design/states.tsx'
import { type Column, ListTable } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { toast } from '../../design/toast.tsx'

type Email = Row<'GET /ui/api/email/outbox'>

const KINDS = { invitation: 'invitation', password_reset: 'new password' } as const

const COLUMNS: ReadonlyArray<Column<Email>> = [
  { id: 'to', label: 'To', cell: ({ recipient }) => recipient },
  { id: 'kind', label: 'About', cell: ({ kind }) => KINDS[kind] },
  {
    id: 'state',
    label: 'State',
    cell: ({ state, attempts, last_error: error }) =>
      state === 'failed' ? (
        <Badge tone="bad">failed{error ? `: ${error}` : ''}</Badge>
      ) : state === 'queued' && attempts > 0 ? (
        <Badge tone="warn">{`waits, tried ${attempts} times: ${error ?? ''}`}</Badge>
      ) : (
        state
      ),
  },
  { id: 'written', label: 'Written', priority: 2, cell: ({ created_at: at }) => <Ago at={at} /> },
  { id: 'sent', label: 'Sent', priority: 2, cell: ({ sent_at: at }) => <Ago at={at} never="not yet" /> },
]

/** Whether this gateway sends e-mail, and the outcome of the last ones. */
export function Email() {
  const ways = useApi('GET /auth/config')
  const list = usePages('GET /ui/api/email/outbox', { query: {} }, { live: 10 })
  return (
    <>
      {ways.data?.email === false && (
        <Notice tone="warn">
          E-mail is not set up: invitations and new passwords go out as links that an administrator copies. Set{' '}
          <span class="mono">general_settings.email</span> in the file.
        </Notice>
      )}
      {ways.data?.email && <TestEmail />}
      <Section title="Recent e-mails">
        <ListTable
          name="outbox"
          label="E-mails"
          list={list}
          columns={COLUMNS}
          rowId={({ email_id }) => email_id}
          empty={<Empty title="No e-mail was written yet">Invitations and password resets appear here.</Empty>}
        />
      </Section>
    </>
  )
}

function TestEmail() {
  const form = useForm({ recipient: '' }, { asks: false })
  const test = useChange('POST /ui/api/email/test', { refreshes: ['/ui/api/email'] })
  const send = () =>
    form.submit(async () => {
      const { recipient } = form.values
      const answer = await test.mutateAsync({ body: recipient === '' ? {} : { recipient } })
      toast(`${answer.provider} took the e-mail to ${answer.recipient}: ${answer.response}`)
    })
  return (
    <form
      class="narrow stack"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <TextField form={form} name="recipient" label="Send a test to" type="email" hint="Empty: to yourself." />
      {form.problem && (
        <p class="notice bad" role="alert">
          {form.problem}
        </p>
      )}
      <div class="row">
        <Button type="submit" busy={form.busy}>
          Send a test
        </Button>
      </div>
    </form>
  )
}
