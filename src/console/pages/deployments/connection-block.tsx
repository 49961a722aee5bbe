import { useId, useState } from 'preact/hooks'
import { useChange } from '../../data/change.ts'
import { useApi } from '../../data/query.ts'
import { Button } from '../../design/button.tsx'
import { CheckField, NumberField, SelectField, TextField } from '../../design/form/fields.tsx'
import { Field, type Form } from '../../design/form/form.tsx'
import { SecretField } from '../../design/form/secret-field.tsx'
import { Section } from '../../design/page.tsx'
import { Notice } from '../../design/states.tsx'
import { type Deployment, MASK, MODE_WORDS, type ProviderKind } from './deployment.ts'
import { atField, type Draft, isLeftToCredential, labelOf, sectionsOf } from './draft.ts'

/** The most named credentials of one provider to choose from. */
const MOST_NAMED = 200

interface Connection {
  readonly form: Form<Draft>
  readonly kind: ProviderKind
  /** Whose settings are kept where the form does not change them. */
  readonly before: Deployment | undefined
  /** The deployment that is changed, whose secrets are kept too. */
  readonly id: string | undefined
}

/** How the provider is reached, and which of its models is meant. */
export function ConnectionBlock(props: Connection) {
  const { form, kind, before } = props
  const named = useApi('GET /ui/api/credentials', { query: { provider: kind.kind, limit: MOST_NAMED } })
  const { credential } = form.values
  const names = [
    ...new Set([...(named.data?.data.map(({ name }) => name) ?? []), ...(credential ? [String(credential)] : [])]),
  ]
  const own = kind.fields.filter((field) => !isLeftToCredential(form.values, field))
  const usual = own.filter((field) => field.usual || field.required || field.name === 'api_key')
  const more = own.filter((field) => !usual.includes(field))
  const kept = more.some(({ name }) => before?.gateway_params[name] !== undefined)
  return (
    <Section title="Connection">
      {kind.credentials.length > 1 && !credential && (
        <p class="quiet">
          One of these is needed: {kind.credentials.map((set) => set.map(labelOf).join(' with ')).join(', or ')}.
        </p>
      )}
      <div class="fields">
        {names.length > 0 && (
          <SelectField
            form={form}
            name="credential"
            label="Credential"
            none="Secrets of its own"
            options={names.map((name) => ({ value: name, label: name }))}
            hint="A named one has the secrets and the address, for all deployments that name it."
          />
        )}
        {usual.map((field) => (
          <Setting key={field.name} {...props} field={field} />
        ))}
        <ModelName {...props} />
        {more.length > 0 && (
          <details class="more" open={kept || more.some(({ name }) => form.wrong(name) !== undefined)}>
            <summary>More about the connection</summary>
            <div class="fields">
              {more.map((field) => (
                <Setting key={field.name} {...props} field={field} />
              ))}
            </div>
          </details>
        )}
      </div>
    </Section>
  )
}

/** One parameter of a connection. */
export function Setting({
  form,
  kind,
  before,
  field,
}: Pick<Connection, 'form' | 'kind'> & {
  readonly before: Pick<Deployment, 'gateway_params'> | undefined
  readonly field: ProviderKind['fields'][number]
}) {
  const { name, type, required, secret } = field
  const label = `${labelOf(name)}${type === 'number' ? ', in seconds' : ''}`
  const hint = field.meaning
  const common = { form, name, label, hint } as const
  if (type === 'flag') return <CheckField {...common} />
  if (type === 'number') return <NumberField {...common} min={0} />
  if (type === 'map') {
    return (
      <TextField
        {...common}
        hint={`${hint} One a line; ${MASK} stands for a value that is kept.`}
        lines={2}
        mono
        placeholder="Name: value"
      />
    )
  }
  if (secret) {
    const isSet = before?.gateway_params[name] === MASK
    return (
      <SecretField
        key={kind.kind}
        {...common}
        hint={`${hint} It is kept sealed and never shown again.`}
        isSet={isSet}
      />
    )
  }
  const usual = name === 'api_base' ? kind.address : field.default
  return <TextField {...common} placeholder={usual ?? ''} required={required} mono />
}

/** The provider's own name of the model. Its list helps where there is one; any name can be typed. */
function ModelName({ form, kind, before, id }: Connection) {
  const list = useId()
  const [wrong, setWrong] = useState('')
  const listed = useChange('POST /ui/api/providers/{kind}/models')
  const { data } = listed
  const ask = () =>
    form.check(async () => {
      const { model: _, provider: _p, ...gateway_params } = sectionsOf(form.values, kind, before).gateway_params
      setWrong('')
      try {
        const body = { gateway_params, ...(id !== undefined && { deployment_id: id }) }
        await listed.mutateAsync({ params: { kind: kind.kind }, body })
      } catch (error) {
        setWrong((error as Error).message)
        throw atField(error)
      }
    })
  const set = (model: string) => {
    const { model: former, model_name: name } = form.values
    form.set('model', model)
    if (name === '' || name === suggested(String(former))) form.set('model_name', suggested(model))
  }
  return (
    <>
      <Field form={form} name="model" label="Model" hint="As the provider names it. Type it, or choose from its list.">
        {(control) => (
          <span class="affix">
            <input
              {...control}
              class="input mono"
              list={list}
              autoComplete="off"
              spellcheck={false}
              required
              value={String(form.values.model)}
              onInput={(event) => set(event.currentTarget.value)}
            />
            <Button busy={listed.isPending} onClick={ask}>
              List models
            </Button>
          </span>
        )}
      </Field>
      <datalist id={list}>
        {data?.models.map(({ id: model, name, mode, priced }) => (
          <option
            key={model}
            value={model}
            label={[name, mode && MODE_WORDS[mode], !priced && 'no price'].filter(Boolean).join(', ') || model}
          />
        ))}
      </datalist>
      {data?.listed && (
        <p class="hint quiet" role="status">
          {data.models.length === 0
            ? 'The provider lists no models: type the name.'
            : `${data.models.length} models are listed: click into the field to see them.`}
        </p>
      )}
      {data?.reason && <Notice>{data.reason} Type the name.</Notice>}
      {data?.failure && (
        <Notice tone="warn">
          {data.failure.message} {data.failure.words} {data.failure.advice}
        </Notice>
      )}
      {wrong && (
        <p class="visually-hidden" role="alert">
          {wrong}
        </p>
      )}
    </>
  )
}

/** What clients would call the model: the last part of the provider's name. */
const suggested = (model: string): string => model.trim().split('/').at(-1) ?? ''
