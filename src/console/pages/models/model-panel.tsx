import { useState } from 'preact/hooks'
import { pathTo, useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { useSession } from '../../data/session.ts'
import { Badge } from '../../design/badge.tsx'
import { ButtonLink, CopyButton } from '../../design/button.tsx'
import { CallCode } from '../../design/call/call-code.tsx'
import { count } from '../../design/format.ts'
import { Facts, Section } from '../../design/page.tsx'
import { Panel } from '../../design/panel.tsx'
import { Empty, Loaded } from '../../design/states.tsx'
import { HealthWord } from './health-word.tsx'
import { KINDS, MODES, type Model, modesOf, pricesOf } from './model.ts'

/** One model: what it is, what it costs, and how it is called. */
export function ModelPanel({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const params = useParams()
  const { pages } = useSession()
  const key_id = params.get('key_id') || undefined
  const read = useApi('GET /ui/api/callable-models', { query: { key_id, search: name, limit: 100 } })
  const model = read.data?.data.find((one) => one.name === name)
  return (
    <Panel
      title={name}
      actions={<CopyButton text={name} label="Copy the name" />}
      onClose={onClose}
      footer={
        model &&
        pages.includes('playground') && (
          <ButtonLink icon="playground" href={pathTo('play', { model: name, key_id })}>
            Try it
          </ButtonLink>
        )
      }
    >
      <Loaded of={read}>
        {() =>
          model ? (
            <About of={model} />
          ) : (
            <Empty title="This is not callable">
              This model does not exist, or you and this key may not call it. Ask an administrator of your team.
            </Empty>
          )
        }
      </Loaded>
    </Panel>
  )
}

function About({ of: model }: { readonly of: Model }) {
  const [chosen, setChosen] = useState(model.modes[0])
  const mode = chosen && model.modes.includes(chosen) ? chosen : model.modes[0]
  const prices = pricesOf(model)
  return (
    <>
      <Section title="About" level={3}>
        <Facts
          of={[
            ['Health', <HealthWord of={model} />],
            ['Kind', KINDS[model.kind]],
            [
              'Stands for',
              model.stands_for ? (
                <a href={pathTo('models', { open: model.stands_for })}>{model.stands_for}</a>
              ) : undefined,
            ],
            ['Takes', modesOf(model) || 'nothing now'],
            ['Longest input', model.max_input_tokens === null ? undefined : `${count(model.max_input_tokens)} tokens`],
            [
              'Longest output',
              model.max_output_tokens === null ? undefined : `${count(model.max_output_tokens)} tokens`,
            ],
            ['Labels', model.access_groups.length > 0 ? <Words of={model.access_groups} /> : undefined],
            ['Owned by', model.owned_by ?? undefined],
          ]}
        />
      </Section>
      <Section title="Price" level={3}>
        {prices.length > 0 && <Facts of={prices} />}
        {!model.priced && (
          <p class="quiet">
            {prices.length === 0 ? 'It has no price.' : 'Some kinds of requests have no price.'} Calls without a price
            are shown as such, not as $0, and budgets do not count them.
          </p>
        )}
      </Section>
      {mode && (
        <Section
          title="How to call it"
          level={3}
          actions={
            model.modes.length > 1 && (
              <select
                class="input order"
                aria-label="Kind of request"
                value={mode}
                onChange={(event) => setChosen(event.currentTarget.value as Model['modes'][number])}
              >
                {model.modes.map((id) => (
                  <option key={id} value={id}>
                    {MODES[id]}
                  </option>
                ))}
              </select>
            )
          }
        >
          <CallCode model={model.name} mode={mode} />
        </Section>
      )}
      {model.tags.length > 0 && (
        <Section title="Tags" level={3}>
          <p class="quiet">A call with one of these in metadata.tags goes to the deployments that have it.</p>
          <Words of={model.tags} />
        </Section>
      )}
    </>
  )
}

function Words({ of: words }: { readonly of: readonly string[] }) {
  return (
    <span class="row">
      {words.map((word) => (
        <Badge key={word}>{word}</Badge>
      ))}
    </span>
  )
}
