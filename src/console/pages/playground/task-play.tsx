import { useId, useState } from 'preact/hooks'
import { ApiError } from '../../data/client.ts'
import { Button } from '../../design/button.tsx'
import { NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import { type Form, useForm } from '../../design/form/form.tsx'
import { Failure } from '../../design/states.tsx'
import { CodeDialog, type Example } from './code-dialog.tsx'
import { ModelField } from './model-field.tsx'
import { ResultOf } from './result.tsx'
import { useRunKeys } from './run-keys.ts'
import { Story } from './story.tsx'
import { useTaskRun } from './task-run.ts'
import { bodyOf, type Given, type Task, type TaskField } from './tasks.ts'

/** A call with one result, of one model or of two beside each other. */
export function TaskPlay({
  task,
  keyId,
  models,
  onModel,
}: {
  readonly task: Task
  readonly keyId: string
  readonly models: readonly string[]
  readonly onModel: (index: number, model: string) => void
}) {
  const form = useForm<Record<string, string | number | null>>(startOf(task), { asks: false })
  const sides = [useTaskRun(), useTaskRun()].slice(0, models.length)
  const [file, setFile] = useState<File>()
  const [example, setExample] = useState<Example>()
  const [asked, setAsked] = useState<Given>({})
  const id = useId()
  const isRunning = sides.some(({ running }) => running)
  const isReady = models.every(Boolean) && !isRunning

  const run = () => {
    if (!isReady) return
    void form.submit(async () => {
      if (task.file && !file) throw new ApiError(task.file.missing, { status: 0, param: 'file' })
      const body = bodyOf(task, form.values)
      setAsked(form.values)
      sides.forEach((side, index) => {
        const whole = { model: models[index], ...body }
        void side.call({
          keyId,
          endpoint: task.endpoint,
          explain: false,
          body: task.file && file ? formOf(whole, task.file.name, file) : whole,
        })
      })
    })
  }
  const stop = () => {
    for (const side of sides) side.stop()
  }
  useRunKeys({ run, stop: isRunning ? stop : undefined })
  const showCode = () =>
    form.submit(async () => {
      const body = { model: models[0], ...bodyOf(task, form.values) }
      setExample({ endpoint: task.endpoint, body, file: task.file?.example, fileName: task.file?.name })
    })
  return (
    <div class="play-main">
      <div class="columns">
        {models.map((model, index) => (
          <ModelField
            key={index}
            keyId={keyId}
            mode={task.mode}
            label={index === 0 ? 'Model' : 'Second model'}
            value={model}
            onChange={(chosen) => onModel(index, chosen)}
          />
        ))}
      </div>
      <div class="fields narrow">
        {task.file && (
          <div class="field">
            <label for={id}>{task.file.label}</label>
            <input
              id={id}
              class="input file"
              type="file"
              accept={task.file.accept}
              onChange={(event) => setFile(event.currentTarget.files?.[0])}
            />
          </div>
        )}
        {task.fields.map((field) => (
          <FieldOf key={field.name} form={form} field={field} />
        ))}
        <TextField form={form} name="more" label="More of the body" hint="A JSON object." lines={2} mono />
        {form.problem && (
          <p class="wrong" role="alert">
            {form.problem}
          </p>
        )}
      </div>
      <div class="row">
        {isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <Button kind="primary" disabled={!isReady} onClick={run}>
            {task.run}
          </Button>
        )}
        <span class="quiet small grow">{isRunning ? 'Esc stops' : 'Ctrl or ⌘ + Enter runs'}</span>
        <Button kind="plain" onClick={showCode}>
          Code
        </Button>
      </div>
      <div class="columns">
        {sides.map(({ run: one }, index) => (
          <section key={index} class="play-result" aria-label={models.length > 1 ? `Model ${index + 1}` : 'Result'}>
            <div class="play-result" role="status">
              {one?.state === 'running' && <p class="quiet">Waiting for the answer…</p>}
              {one?.state === 'stopped' && <p class="quiet">Stopped.</p>}
            </div>
            {one?.failure && <Failure error={one.failure} />}
            {one?.result && <ResultOf task={task} given={asked} result={one.result} />}
            {one?.told && <Story key={one.told.requestId} told={one.told} />}
          </section>
        ))}
      </div>
      {example && <CodeDialog example={example} onClose={() => setExample(undefined)} />}
    </div>
  )
}

const startOf = ({ fields }: Task): Record<string, string | number | null> => ({
  more: '',
  ...Object.fromEntries(fields.map(({ name, kind, example }) => [name, example ?? (kind === 'number' ? null : '')])),
})

function FieldOf({
  form,
  field: { name, label, kind, hint, choices, placeholder },
}: {
  readonly form: Form<Record<string, string | number | null>>
  readonly field: TaskField
}) {
  const common = { form, name, label, hint }
  if (kind === 'number') return <NumberField {...common} min={1} step={1} placeholder={placeholder ?? ''} />
  if (kind === 'choice') {
    const options = (choices ?? []).map((value) => ({ value, label: value }))
    return <SelectField {...common} options={options} none="the model's own" />
  }
  return <TextField {...common} {...(kind === 'lines' && { lines: 3 })} placeholder={placeholder ?? ''} />
}

function formOf(body: Readonly<Record<string, unknown>>, name: string, file: File): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(body))
    form.set(field, typeof value === 'string' ? value : JSON.stringify(value))
  form.set(name, file, file.name)
  return form
}
