import { useEffect, useRef, useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { type Answer, ApiError, addressOf, readJson, send } from '../../data/client.ts'
import { Dialog } from '../../design/dialog.tsx'
import { Combobox } from '../../design/form/combobox.tsx'
import { FormFoot, SelectField } from '../../design/form/fields.tsx'
import { Field, useForm } from '../../design/form/form.tsx'
import { count } from '../../design/format.ts'
import { Loaded, Notice } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { optionOf, useUsableKeys } from '../key/usable-keys.ts'
import { checkFile, type FileCheck } from './check-file.ts'

type Uploaded = Answer<'POST /ui/api/batches/files'>
type Endpoint = (typeof ENDPOINTS)[number]

const ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/completions',
  '/v1/messages',
  '/v1/rerank',
] as const
const WINDOWS = [{ value: '24h', label: 'within 24 hours' }]

/** Uploads a file of requests and runs it as a key of the person's. */
export function NewBatch({
  keyId,
  file: dropped,
  onClose,
  onDone,
}: {
  /** The key that the list is narrowed to. */
  readonly keyId: string | undefined
  readonly file: File | undefined
  readonly onClose: () => void
  readonly onDone: (id: string) => void
}) {
  const keys = useUsableKeys()
  return (
    <Loaded of={keys.read}>
      {() => <Filled keys={keys} keyId={keyId} dropped={dropped} onClose={onClose} onDone={onDone} />}
    </Loaded>
  )
}

function Filled({
  keys: { usable = [], search },
  keyId,
  dropped,
  onClose,
  onDone,
}: {
  readonly keys: ReturnType<typeof useUsableKeys>
  readonly keyId: string | undefined
  readonly dropped: File | undefined
  readonly onClose: () => void
  readonly onDone: (id: string) => void
}) {
  const first = usable.find(({ key_id: id }) => id === keyId) ?? usable[0]
  const form = useForm({
    key_id: first ? optionOf(first).value : '',
    file: '',
    endpoint: ENDPOINTS[0] as Endpoint,
    completion_window: '24h' as const,
  })
  const [keyName, setKeyName] = useState(first ? optionOf(first).label : '')
  const [file, setFile] = useState<File>()
  const [check, setCheck] = useState<FileCheck>()
  const create = useChange('POST /ui/api/batches', { refreshes: ['/ui/api/batches'] })
  const stopping = useRef<AbortController>()
  const latest = useRef<File>()
  useEffect(() => () => stopping.current?.abort(), [])
  useEffect(() => void (dropped && take(dropped)), [dropped])

  async function take(chosen: File): Promise<void> {
    setFile(chosen)
    setCheck(undefined)
    form.set('file', chosen.name)
    latest.current = chosen
    const found = await checkFile(chosen)
    // Another one may have been chosen while this one was read.
    if (latest.current !== chosen) return
    setCheck(found)
    const named = ENDPOINTS.find((one) => one === found.endpoint)
    if (named) form.set('endpoint', named)
  }
  async function start(): Promise<void> {
    const { key_id, endpoint, completion_window } = form.values
    let made: string | undefined
    await form.submit(async () => {
      if (!file) throw new ApiError('Choose a file.', { status: 0, param: 'file' })
      if (!key_id) throw new ApiError('Choose a key.', { status: 0, param: 'key_id' })
      stopping.current = new AbortController()
      const query = { key_id }
      const body = new FormData()
      body.set('purpose', 'batch')
      body.set('file', file)
      const response = await send(addressOf('POST /ui/api/batches/files', { query }), {
        method: 'POST',
        body,
        signal: stopping.current.signal,
        // Says that no form of another site has sent it.
        headers: { 'x-requested-with': 'fetch' },
      })
      const uploaded = (await readJson(response)) as Uploaded
      const batch = await create.mutateAsync({
        query,
        body: { input_file_id: uploaded.id, endpoint, completion_window },
      })
      made = batch.id
      return true
    })
    if (made === undefined) return
    toast('The batch has started: its file is checked first.')
    onDone(made)
  }
  const wrong = check?.mistake ?? mismatch(check, form.values.endpoint)
  return (
    <Dialog
      title="New batch"
      onClose={onClose}
      onSubmit={() => wrong === undefined && void start()}
      footer={<FormFoot form={form} save={form.busy ? 'Uploading…' : 'Upload and run'} onCancel={onClose} always />}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: to drop a file is a shortcut for choosing one. */}
      <div
        class="fields"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          const chosen = event.dataTransfer?.files[0]
          if (!chosen) return
          event.preventDefault()
          void take(chosen)
        }}
      >
        {usable.length === 0 && (
          <Notice tone="warn">
            A batch runs as a key, and there is none that you may use. Make one under My keys.
          </Notice>
        )}
        <Field
          form={form}
          name="file"
          label="File of requests"
          hint="A JSON object in each line. Choose it, or drop it here."
        >
          {(control) => (
            <input
              {...control}
              class="input file"
              type="file"
              accept=".jsonl,.ndjson,.json,application/jsonl,text/plain"
              onChange={(event) => {
                const [chosen] = event.currentTarget.files ?? []
                if (chosen) void take(chosen)
              }}
            />
          )}
        </Field>
        {file && (
          <div role="status">
            {!check && <p class="quiet">Reading {file.name}…</p>}
            {check && wrong && (
              <Notice tone="bad">
                {file.name}, line {wrong.line}: {wrong.message}
              </Notice>
            )}
            {check && !wrong && (
              <p class="quiet">
                {file.name}: {sizeOf(file.size)},{' '}
                {check.more
                  ? `the first ${count(check.lines)} requests look right`
                  : `${count(check.lines)} ${check.lines === 1 ? 'request' : 'requests'}`}
                . The gateway checks every line before anything runs.
              </p>
            )}
          </div>
        )}
        <div class="pair">
          <SelectField
            form={form}
            name="endpoint"
            label="Endpoint"
            hint="The url of every line."
            options={ENDPOINTS.map((value) => ({ value, label: value }))}
          />
          <SelectField form={form} name="completion_window" label="Done" options={WINDOWS} />
        </div>
        <Field
          form={form}
          name="key_id"
          label="As the key"
          hint="Its access, limits and budget hold for every request."
        >
          {(control) => (
            <Combobox
              id={control.id}
              invalid={control['aria-invalid']}
              describedBy={control['aria-describedby']}
              value={keyName}
              placeholder="Search your keys"
              search={search}
              onChange={(option) => {
                form.set('key_id', option?.value ?? '')
                setKeyName(option?.label ?? '')
              }}
            />
          )}
        </Field>
      </div>
    </Dialog>
  )
}

function mismatch(check: FileCheck | undefined, endpoint: string): FileCheck['mistake'] {
  if (!check?.endpoint || check.endpoint === endpoint) return undefined
  return { line: 1, message: `Its url is ${check.endpoint}, and the endpoint chosen is ${endpoint}.` }
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
