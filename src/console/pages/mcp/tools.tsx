import { useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { FormFoot, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { duration } from '../../design/format.ts'
import { Facts } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Checked, type Tool, WHY } from './server.ts'

/** What a server answered: who it is and its tools, or what is wrong. */
export function Found({ of, server }: { readonly of: Checked; readonly server?: string | undefined }) {
  const [calling, setCalling] = useState<Tool>()
  if (!of.ok) {
    return (
      <Notice tone="bad">
        {WHY[of.failure?.kind ?? '']} {of.failure?.message}
      </Notice>
    )
  }
  return (
    <>
      <Facts
        of={[
          ['Server', of.server ? `${of.server.name} ${of.server.version}` : undefined],
          ['Protocol', of.protocol_version ?? undefined],
          ['Answered after', of.latency_ms === null ? undefined : duration(of.latency_ms)],
          ['Tools', String(of.tools.length)],
        ]}
      />
      {of.tools.map((tool) => (
        <details key={tool.name} class="card">
          <summary>
            <span class="mono">{tool.name}</span>{' '}
            <span class="quiet">{tool.title ?? tool.description.slice(0, 80)}</span>
          </summary>
          <div class="stack">
            <p>{tool.description || 'It has no description.'}</p>
            <p class="quiet small">
              Models know it as <span class="mono">{tool.public_name}</span>.
            </p>
            <Code text={JSON.stringify(tool.input_schema, null, 2)} label={`Schema of ${tool.name}`} />
            {server && (
              <div class="row">
                <Button small onClick={() => setCalling(tool)}>
                  Call it
                </Button>
              </div>
            )}
          </div>
        </details>
      ))}
      {of.left_out.map(({ name, reason }) => (
        <p key={name} class="small">
          <Badge tone="warn">left out</Badge> <span class="mono">{name}</span> {reason}
        </p>
      ))}
      {server && calling && <CallDialog server={server} tool={calling} onClose={() => setCalling(undefined)} />}
    </>
  )
}

/** Calls a tool by hand. */
function CallDialog({
  server,
  tool,
  onClose,
}: {
  readonly server: string
  readonly tool: Tool
  readonly onClose: () => void
}) {
  const form = useForm({ arguments: '{}' }, { asks: false })
  const call = useChange('POST /ui/api/mcp-servers/{server_key}/call')
  const { data } = call
  const send = () =>
    form.submit(() =>
      call.mutateAsync({
        params: { server_key: server },
        body: { tool: tool.name, arguments: parsed(form.values.arguments) },
      }),
    )
  return (
    <Dialog
      title={`Call ${tool.name}`}
      wide
      onClose={onClose}
      onSubmit={() => void send()}
      footer={<FormFoot form={form} save="Call" onCancel={onClose} always />}
    >
      <TextField form={form} name="arguments" label="Arguments" hint="As JSON." lines={8} mono />
      {data?.failure && <Notice tone="bad">{data.failure.message}</Notice>}
      {data?.result && (
        <>
          <Notice tone={data.result.is_error ? 'warn' : 'ok'}>
            {data.result.is_error ? 'The tool reports an error' : 'Answered'} after {duration(data.latency_ms)}.
          </Notice>
          <Code text={JSON.stringify(data.result.structured_content ?? data.result.content, null, 2)} label="Result" />
        </>
      )}
    </Dialog>
  )
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The arguments are not JSON.')
  }
}
