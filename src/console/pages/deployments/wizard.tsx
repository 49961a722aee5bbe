import { useEffect, useRef, useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { ApiError, api } from '../../data/client.ts'
import { useApi } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { useForm } from '../../design/form/form.tsx'
import { leave } from '../../design/form/unsaved.ts'
import { Page } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { toast } from '../../design/toast.tsx'
import { Changes, Conflict } from './changes.tsx'
import { ConnectionBlock } from './connection-block.tsx'
import type { Deployment, ProviderKind } from './deployment.ts'
import { atField, bodyOf, draftOf, patchOf, sectionsOf } from './draft.ts'
import { ModelBlock } from './model-block.tsx'
import { ProviderBlock } from './provider-block.tsx'
import { type Trial, TrialBlock } from './trial-block.tsx'

const AFTER = { refreshes: ['/ui/api/models', '/health'] }

interface WizardProps {
  /** Begins with what this one is. */
  readonly from?: Deployment | undefined
  /** What becomes of it: a change of it, its place taken by one of the database, or another like it. */
  readonly purpose: 'new' | 'edit' | 'override' | 'copy'
  readonly onDone: (id: string) => void
  readonly onCancel?: (() => void) | undefined
}

const TITLES = {
  new: () => 'New deployment',
  edit: (id: string) => `Edit ${id}`,
  override: (id: string) => `Override ${id}`,
  copy: (id: string) => `Another one like ${id}`,
} as const

/** Adds a deployment or changes one: the provider, the connection, what it is, a test of the draft. */
export function Wizard(props: WizardProps) {
  const kinds = useApi('GET /ui/api/providers')
  const { from, purpose } = props
  return (
    <Page title={TITLES[purpose](from?.deployment_id ?? '')}>
      <Loaded of={kinds}>{({ data }) => <Blocks {...props} kinds={data} />}</Loaded>
    </Page>
  )
}

function Blocks({ from, purpose, onDone, onCancel, kinds }: WizardProps & { readonly kinds: readonly ProviderKind[] }) {
  const isEdit = purpose === 'edit'
  const [start] = useState(() => {
    const draft = draftOf(from)
    return purpose === 'copy' ? { ...draft, deployment_id: '' } : draft
  })
  const form = useForm(start)
  const [theirs, setTheirs] = useState<Deployment>()
  const [tried, setTried] = useState<{ readonly trial: Trial; readonly of: string }>()
  const [testing, setTesting] = useState(false)
  const created = useChange('POST /ui/api/models', AFTER)
  const changed = useChange('PATCH /ui/api/models/{deployment_id}', AFTER)
  const kind = kinds.find((one) => one.kind === form.values.kind)
  const isNamed = String(form.values.model).trim() !== ''
  const state = JSON.stringify(form.values)
  const canSave = kind && isNamed && !testing && (form.dirty || !isEdit) && theirs === undefined
  const id = isEdit ? from?.deployment_id : undefined

  async function test(): Promise<void> {
    if (!kind || !isNamed || testing) return
    setTesting(true)
    await form.check(async () => {
      try {
        const body = bodyOf(form.values, kind, from)
        setTried({ trial: await api('POST /ui/api/models/test', { body }), of: state })
      } catch (error) {
        throw atField(error)
      }
    })
    setTesting(false)
  }
  async function save(version = from?.version): Promise<void> {
    let written: Deployment | undefined
    await form.submit(async () => {
      try {
        written = isEdit && from ? await write(from, version ?? undefined) : await add()
      } catch (error) {
        if (error instanceof ApiError && error.code === 'version_conflict' && from) {
          setTheirs(await api('GET /ui/api/models/{deployment_id}', { params: from }))
          return false
        }
        throw atField(error)
      }
      return true
    })
    if (!written) return
    toast(isEdit ? 'Saved. It applies everywhere within five seconds.' : `${written.deployment_id} is there.`)
    onDone(written.deployment_id)
  }
  const add = () => created.mutateAsync({ body: bodyOf(form.values, kind, from) as never })
  const write = (before: Deployment, version: number | undefined) => {
    const after = sectionsOf(form.values, kind, before)
    const { model_name, gateway_params, model_info } = before
    const body = { ...patchOf({ model_name, gateway_params, model_info }, after), version }
    return changed.mutateAsync({ params: { deployment_id: before.deployment_id }, body })
  }
  const isTested = tried?.of === state
  /** Enter goes on: it tests what was typed, and saves what has answered. */
  function goOn(event: KeyboardEvent): void {
    const { key, target, defaultPrevented, metaKey, ctrlKey } = event
    if (key !== 'Enter' || defaultPrevented || metaKey || ctrlKey || !(target instanceof HTMLInputElement)) return
    event.preventDefault()
    if (!isTested || !tried.trial.ok) void test()
    else if (canSave) void save()
  }
  const test_ = useRef(test)
  test_.current = test
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      void test_.current()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
  return (
    <form
      class="blocks"
      noValidate
      onKeyDown={goOn}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {purpose === 'override' && (
        <p class="quiet">
          The entry of the file stays where it is; this one of the database stands in its place until it is deleted. The
          secrets of the file are not copied: type them again.
        </p>
      )}
      {purpose === 'copy' && <p class="quiet">Secrets are not copied: type them again.</p>}
      <ProviderBlock
        kinds={kinds}
        chosen={kind}
        fixed={isEdit}
        onChoose={(chosen) => {
          form.set('kind', chosen)
          if (chosen === 'echo' && !isNamed) form.set('model', 'echo')
          if (chosen === 'echo' && form.values.model_name === '') form.set('model_name', 'echo')
        }}
      />
      {kind && <ConnectionBlock key={kind.kind} form={form} kind={kind} before={from} id={id} />}
      {kind && isNamed && (
        <>
          <ModelBlock form={form} kind={kind} before={from} hasId={isEdit || purpose === 'override'} />
          <TrialBlock trial={tried?.trial} isOld={!isTested} busy={testing} onTest={() => void test()} />
          {isEdit && form.dirty && <Changes before={start} after={form.values} />}
        </>
      )}
      {theirs && from && (
        <Conflict
          before={from}
          theirs={theirs}
          onMine={() => {
            setTheirs(undefined)
            void save(theirs.version)
          }}
          onTheirs={() => {
            setTheirs(undefined)
            form.reset(start)
            onDone(from.deployment_id)
          }}
        />
      )}
      <footer class="form-foot">
        <span class="grow wrong" role="alert">
          {form.problem}
        </span>
        {onCancel && <Button onClick={() => leave(onCancel)}>Cancel</Button>}
        {kind && isNamed && (
          <Button type="submit" kind="primary" busy={form.busy && !testing} disabled={!canSave}>
            {isTested && !tried.trial.ok ? 'Save anyway' : 'Save'}
          </Button>
        )}
      </footer>
    </form>
  )
}
