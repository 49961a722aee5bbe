import { useEffect, useState } from 'preact/hooks'
import { useApi } from '../../data/query.ts'
import { NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import type { Form } from '../../design/form/form.tsx'
import { budget } from '../../design/format.ts'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Deployment, MODE_WORDS, type Mode, PRICES, type ProviderKind, scaled } from './deployment.ts'
import type { Draft } from './draft.ts'

const LIMITS: ReadonlyArray<readonly [name: string, label: string, modes: readonly Mode[] | undefined]> = [
  ['rpm_limit', 'Requests per minute', undefined],
  ['tpm_limit', 'Tokens per minute', ['chat', 'completion', 'embedding']],
  ['image_pm_limit', 'Images per minute', ['image_generation']],
  ['audio_seconds_pm_limit', 'Seconds of audio per minute', ['audio_transcription']],
  ['char_pm_limit', 'Characters per minute', ['audio_speech']],
  ['rerank_units_pm_limit', 'Rerank units per minute', ['rerank']],
]

/** What clients see of it: its name, what it takes, what it costs. */
export function ModelBlock({
  form,
  kind,
  before,
  hasId,
}: {
  readonly form: Form<Draft>
  readonly kind: ProviderKind
  readonly before: Deployment | undefined
  /** Its id is given, and stays. */
  readonly hasId: boolean
}) {
  const mode = form.values.mode as Mode | null
  const modes: readonly Mode[] = mode ? [mode] : kind.modes
  const shows = (wanted: readonly Mode[] | undefined) => !wanted || wanted.some((one) => modes.includes(one))
  return (
    <>
      <Section title="What it is">
        <div class="fields">
          <TextField
            form={form}
            name="model_name"
            label="Public name"
            hint="What clients send as model. Deployments of the same name share its calls."
            required
            mono
          />
          <div class="pair">
            <SelectField
              form={form}
              name="mode"
              label="Kind of requests"
              none="All that the provider serves"
              options={kind.modes.map((value) => ({ value, label: MODE_WORDS[value] }))}
            />
            {!hasId && (
              <TextField
                form={form}
                name="deployment_id"
                label="Deployment id"
                placeholder={`${form.values.model_name || 'name'}-1`}
                hint="Names it in logs and figures. Empty: the public name and a number."
                mono
              />
            )}
          </div>
          <TextField
            form={form}
            name="tags"
            label="Tags"
            placeholder="eu, fast"
            hint="Requests can ask for them in metadata.tags. Separated by commas."
          />
        </div>
      </Section>
      <Section title="Price">
        <Prices form={form} kind={kind} before={before} shows={shows} />
      </Section>
      <details class="more" open={before !== undefined}>
        <summary>Limits, weight and labels</summary>
        <div class="fields">
          <div class="pair">
            {LIMITS.filter(([, , wanted]) => shows(wanted)).map(([name, label]) => (
              <NumberField key={name} form={form} name={name} label={label} min={0} placeholder="no limit" />
            ))}
          </div>
          <div class="pair">
            <NumberField
              form={form}
              name="weight"
              label="Weight"
              min={0}
              placeholder="1"
              hint="Its share of the calls."
            />
            <NumberField
              form={form}
              name="priority"
              label="Priority"
              min={0}
              placeholder="0"
              hint="Lower numbers are tried first."
            />
            <NumberField form={form} name="max_input_tokens" label="Longest input" unit="tokens" min={1} />
            <NumberField form={form} name="max_output_tokens" label="Longest answer" unit="tokens" min={1} />
          </div>
          <TextField
            form={form}
            name="access_groups"
            label="Access groups"
            hint="Labels by which callers are given access. Separated by commas."
          />
        </div>
      </details>
    </>
  )
}

/** Prices of its own; empty ones are those of the price table, which are shown in their place. */
function Prices({
  form,
  kind,
  before,
  shows,
}: {
  readonly form: Form<Draft>
  readonly kind: ProviderKind
  readonly before: Deployment | undefined
  readonly shows: (modes: readonly Mode[]) => boolean
}) {
  const model = useSettled(String(form.values.model).trim())
  const base = useSettled(String(form.values.base_model ?? '').trim())
  const read = useApi(
    'GET /ui/api/prices',
    { query: { provider: kind.kind, model, ...(base === '' ? {} : { base_model: base }) } },
    { enabled: model !== '' && kind.kind !== 'echo' },
  )
  const row = model === '' ? undefined : read.data?.data[0]
  const listed: Readonly<Record<string, unknown>> = row?.prices ?? {}
  const fields = PRICES.filter(({ modes }) => shows(modes))
  const isPriced = fields.some(({ name }) => typeof form.values[name] === 'number') || row !== undefined
  const bySize = fields.some(({ name }) => typeof before?.model_info[name] === 'object')
  return (
    <div class="fields">
      {row ? (
        <p class="quiet">
          The price table of {read.data?.as_of} has {row.model}. Its prices, in grey, are in force where a field is
          empty.
        </p>
      ) : (
        !isPriced &&
        read.isFetched && (
          <Notice tone="warn">
            What does it cost? The price table does not have this model. Without a price its calls are answered as ever,
            but count nothing in spend and against budgets. It can be added later, for the calls from then on.
          </Notice>
        )
      )}
      {bySize && <p class="quiet">Images have prices by size, which stay as they are while the field is empty.</p>}
      <div class="pair">
        {fields.map(({ name, label, per, unit }) => (
          <NumberField
            key={name}
            form={form}
            name={name}
            label={`${label}, ${unit}`}
            min={0}
            placeholder={typeof listed[name] === 'number' ? budget(scaled(listed[name], per)).slice(1) : 'no price'}
          />
        ))}
      </div>
    </div>
  )
}

/** What has not changed for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 400)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
