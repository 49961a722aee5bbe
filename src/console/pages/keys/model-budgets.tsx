import { useId, useState } from 'preact/hooks'
import { callableNames } from '../../data/callable-names.ts'
import { Button } from '../../design/button.tsx'
import { Combobox } from '../../design/form/combobox.tsx'
import type { Form, Values } from '../../design/form/form.tsx'

const search = callableNames('target')

/** Budgets of single models, in dollars for the period of the key's own budget. */
export function ModelBudgets<Fields extends Values & { readonly model_max_budget: Readonly<Record<string, number>> }>({
  form,
}: {
  readonly form: Form<Fields>
}) {
  const id = useId()
  const budgets = form.get('model_max_budget')
  const [adding, setAdding] = useState(false)
  const set = (next: Readonly<Record<string, number>>) =>
    form.set('model_max_budget', next as Fields['model_max_budget'])
  form.shows('model_max_budget')
  const wrong = form.wrong('model_max_budget')
  return (
    <div class="field" role="group" aria-labelledby={id}>
      <span class="label" id={id}>
        Budgets of single models
      </span>
      {Object.entries(budgets).map(([model, most]) => (
        <span class="affix" key={model}>
          <span class="grow cut">{model}</span>
          <input
            class="input short"
            type="number"
            min={0}
            step="any"
            inputMode="decimal"
            aria-label={`US dollars for ${model}`}
            value={most}
            onInput={(event) => set({ ...budgets, [model]: Number(event.currentTarget.value) })}
          />
          <span class="unit">US dollars</span>
          <Button
            small
            kind="plain"
            icon="close"
            label={`Remove the budget of ${model}`}
            onClick={() => set(Object.fromEntries(Object.entries(budgets).filter(([name]) => name !== model)))}
          />
        </span>
      ))}
      {adding ? (
        <Combobox
          label="Model"
          placeholder="Model"
          value=""
          free
          autoFocus
          search={async (text) => (await search(text)).filter(({ value }) => !(value in budgets))}
          onChange={(option) => {
            setAdding(false)
            if (option) set({ ...budgets, [option.value]: 10 })
          }}
          onLeave={() => setAdding(false)}
        />
      ) : (
        <span>
          <Button small icon="plus" onClick={() => setAdding(true)}>
            Budget for a model
          </Button>
        </span>
      )}
      {wrong && <span class="wrong">{wrong}</span>}
    </div>
  )
}
