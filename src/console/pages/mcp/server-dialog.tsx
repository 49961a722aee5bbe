import { useChange } from '../../data/change.ts'
import { Button } from '../../design/button.tsx'
import { CheckField, NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import { useForm } from '../../design/form/form.tsx'
import { FormDialog } from '../../design/form/form-dialog.tsx'
import { SecretField } from '../../design/form/secret-field.tsx'
import { toast } from '../../design/toast.tsx'
import { AUTH, type Server } from './server.ts'
import { Found } from './tools.tsx'

const AFTER = { refreshes: ['/ui/api/mcp-servers'] }

/** Adds a server: address, then a check of it, then its name. Or changes one. */
export function ServerDialog({
  server,
  onClose,
  onDone,
}: {
  readonly server?: Server
  readonly onClose: () => void
  readonly onDone: (key: string) => void
}) {
  const form = useForm({
    base_url: server?.base_url ?? '',
    server_key: server?.server_key ?? '',
    auth_mode: server?.auth_mode ?? 'none',
    auth_token: undefined as string | undefined,
    headers: undefined as string | undefined,
    request_timeout_ms: server?.request_timeout_ms ?? null,
    enabled: server?.enabled ?? true,
    allow_private: server?.allow_private ?? false,
  })
  const check = useChange('POST /ui/api/mcp-servers/check')
  const create = useChange('POST /ui/api/mcp-servers', AFTER)
  const change = useChange('PATCH /ui/api/mcp-servers/{server_key}', AFTER)
  const { values } = form
  const body = () => {
    const { headers, request_timeout_ms: timeout, auth_token: token, ...rest } = values
    return {
      ...rest,
      ...(timeout === null ? {} : { request_timeout_ms: timeout }),
      ...(token ? { auth_token: token } : {}),
      ...(headers ? { auth_headers: headersIn(headers) } : {}),
    }
  }
  async function save(): Promise<void> {
    const done = await form.submit(async () => {
      if (!server) return create.mutateAsync({ body: body() })
      const { headers, server_key: _same, ...changes } = form.changes()
      return change.mutateAsync({
        params: { server_key: server.server_key },
        body: {
          ...changes,
          ...(headers ? { auth_headers: headersIn(headers) } : {}),
          ...(server.version === null ? {} : { version: server.version }),
        },
      })
    })
    if (!done) return
    toast(server ? 'Saved.' : `${values.server_key} is added.`)
    onDone(values.server_key)
  }
  const tryIt = () =>
    form.check(() => check.mutateAsync({ body: { ...body(), server_key: values.server_key || 'draft' } }))
  const needsAgain = server !== undefined && server.auth_mode !== 'none'
  return (
    <FormDialog
      form={form}
      title={server ? `Edit ${server.server_key}` : 'Add an MCP server'}
      save={server ? 'Save' : 'Add'}
      onSave={save}
      onClose={onClose}
      always={!server}
      wide
    >
      <TextField
        form={form}
        name="base_url"
        label="Address"
        type="url"
        placeholder="https://tools.example.com/mcp"
        mono
      />
      {!server && (
        <TextField
          form={form}
          name="server_key"
          label="Name"
          hint="Its tools are called name__tool."
          placeholder="docs"
          mono
        />
      )}
      <SelectField
        form={form}
        name="auth_mode"
        label="Signs in with"
        options={Object.entries(AUTH).map(([value, label]) => ({ value, label }))}
      />
      {values.auth_mode === 'bearer' && (
        <SecretField form={form} name="auth_token" label="Token" isSet={server?.auth_mode === 'bearer'} />
      )}
      {values.auth_mode === 'header_map' && (
        <TextField
          form={form}
          name="headers"
          label="Headers"
          lines={3}
          mono
          placeholder="x-api-key: …"
          hint={server ? 'One in a line; empty: those that are kept.' : 'One in a line.'}
        />
      )}
      <NumberField
        form={form}
        name="request_timeout_ms"
        label="A call takes at most"
        unit="ms"
        min={1}
        placeholder="as set for all"
      />
      <CheckField form={form} name="allow_private" label="The address may be in a private network" />
      <CheckField form={form} name="enabled" label="In use" />
      {!needsAgain && (
        <div class="row">
          <Button busy={check.isPending} disabled={values.base_url === ''} onClick={() => void tryIt()}>
            Check the address
          </Button>
        </div>
      )}
      {check.data && <Found of={check.data} />}
    </FormDialog>
  )
}

function headersIn(text: string): Record<string, string> {
  const pairs = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    pairs.map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw new Error('A header is "name: value".')
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}
