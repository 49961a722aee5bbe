import { useParams } from '../../data/params.ts'
import { useApi } from '../../data/query.ts'
import { Code } from '../../design/code.tsx'
import { Facts, Section } from '../../design/page.tsx'
import { Loaded } from '../../design/states.tsx'
import { Ago } from '../../design/time.tsx'
import { Messages } from './messages.tsx'
import { isRequired, kindOf, labelsOf, type Prompt, type Variables } from './prompt.ts'
import { Rendered } from './rendered.tsx'
import { VersionSelect } from './version-select.tsx'

/** What one version says, the variables that it takes, and how it looks with values. */
export function Text({ prompt }: { readonly prompt: Prompt }) {
  const params = useParams()
  const { key, labels, latest } = prompt
  // What a call by the key alone means.
  const version = Number(params.get('version')) || labels.production || latest
  const read = useApi('GET /ui/api/prompts/{key}/versions/{version}', { params: { key, version: String(version) } })
  return (
    <>
      <div class="bar">
        <VersionSelect
          label="Version"
          prompt={prompt}
          value={version}
          onChange={(next) => params.set({ version: String(next) }, { replace: true })}
        />
      </div>
      <Loaded of={read}>
        {(one) => (
          <>
            <Facts
              of={[
                ['Written', <Ago at={one.created_at} />],
                ['By', one.created_by.replace('master_key', 'Master key')],
                ['Note', one.note || undefined],
                ['Named by calls as', <NamedAs prompt={prompt} version={one.version} />],
              ]}
            />
            <Section title="Messages" level={3}>
              <Messages of={one.messages} />
            </Section>
            <Section title="Variables" level={3}>
              <Declared of={one.variables} />
            </Section>
            <Section title="Try values" level={3}>
              <Rendered key={one.version} prompt={prompt} version={one} />
            </Section>
            <Section title="How to call it" level={3}>
              <Code label={`How to call ${key}`} text={metadataOf(prompt, one.version, one.variables)} />
            </Section>
          </>
        )}
      </Loaded>
    </>
  )
}

function NamedAs({ prompt, version }: { readonly prompt: Prompt; readonly version: number }) {
  return <span class="mono">{refsOf(prompt, version).join(', ')}</span>
}

/** Every prompt_ref that means the version, the most usual first. */
function refsOf(prompt: Prompt, version: number): string[] {
  const { key, labels, latest } = prompt
  return [
    ...((labels.production ?? latest) === version ? [key] : []),
    ...labelsOf(prompt, version).map((label) => `${key}:${label}`),
    ...(latest === version ? [`${key}:latest`] : []),
    `${key}@${version}`,
  ]
}

function metadataOf(prompt: Prompt, version: number, variables: Variables): string {
  const required = Object.entries(variables).filter(([, variable]) => isRequired(variable))
  const prompt_variables = Object.fromEntries(
    required.map(([name, variable]) => [name, variable.enum?.[0] ?? SAMPLE[variable.type]]),
  )
  const given = required.length > 0 ? { prompt_variables } : {}
  return JSON.stringify({ metadata: { prompt_ref: refsOf(prompt, version)[0], ...given } }, undefined, 2)
}

const SAMPLE = { string: '…', enum: '…', number: 0, integer: 0, boolean: true, array: [], object: {} }

function Declared({ of: variables }: { readonly of: Variables }) {
  const entries = Object.entries(variables)
  if (entries.length === 0) return <p class="quiet">It takes none.</p>
  return (
    <Facts
      of={entries.map(([name, variable]) => [
        name,
        <>
          {kindOf(variable)}
          <span class="quiet">
            {isRequired(variable)
              ? ', required'
              : variable.default === undefined
                ? ', empty where none is given'
                : `, ${JSON.stringify(variable.default)} where none is given`}
          </span>
          {variable.description && <div class="quiet small">{variable.description}</div>}
        </>,
      ])}
    />
  )
}
