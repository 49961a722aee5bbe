import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { Section } from '../../design/page.tsx'
import { MODE_WORDS, type ProviderKind } from './deployment.ts'
import { labelOf } from './draft.ts'

/** The first question: which kind of provider. Once answered it is one line. */
export function ProviderBlock({
  kinds,
  chosen,
  onChoose,
  fixed,
}: {
  readonly kinds: readonly ProviderKind[]
  readonly chosen: ProviderKind | undefined
  readonly onChoose: (kind: string) => void
  /** A deployment that is there stays with its provider. */
  readonly fixed: boolean
}) {
  const [choosing, setChoosing] = useState(!chosen)
  const [text, setText] = useState('')
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // On a touch screen the focus would open the keyboard over the choices.
    if (choosing && matchMedia('(pointer: fine)').matches) search.current?.focus()
  }, [choosing])
  if (chosen && !choosing) {
    return (
      <Section
        title="Provider"
        actions={
          !fixed && (
            <Button small onClick={() => setChoosing(true)}>
              Change
            </Button>
          )
        }
      >
        <p>
          <b>{chosen.label}</b> <span class="quiet">{servesWords(chosen)}</span>
        </p>
      </Section>
    )
  }
  const wanted = text.trim().toLowerCase()
  const found = kinds.filter((one) => `${one.label} ${one.kind} ${servesWords(one)}`.toLowerCase().includes(wanted))
  return (
    <Section title="Provider">
      <input
        ref={search}
        class="input search"
        type="search"
        aria-label="Search providers"
        placeholder={`Search ${kinds.length} providers`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [only] = found
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (!only || wanted === '') return
          setChoosing(false)
          onChoose(only.kind)
        }}
      />
      <ul class="choices">
        {found.map((one) => (
          <li key={one.kind}>
            <button
              type="button"
              class="choice"
              aria-pressed={one.kind === chosen?.kind}
              onClick={() => {
                setChoosing(false)
                onChoose(one.kind)
              }}
            >
              <b>{one.label}</b>
              <span>{servesWords(one)}</span>
              <span>Needs {needsWords(one)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="quiet">
          No provider has this name. A server that speaks OpenAI's API is an “OpenAI-compatible server”.
        </p>
      )}
    </Section>
  )
}

const servesWords = ({ modes }: ProviderKind) => modes.map((mode) => MODE_WORDS[mode]).join(', ')

function needsWords({ credentials, fields }: ProviderKind): string {
  const named = (name: string) => (name === 'api_key' ? 'an API key' : `the ${lower(labelOf(name))}`)
  const keys = credentials.map((set) => set.map(named).join(' with ')).join(', or ')
  const others = fields
    .filter(({ name, required }) => required && !credentials.flat().includes(name))
    .map(({ name }) => named(name))
  return [...(keys ? [keys] : []), ...others].join(', and ') || 'nothing'
}

const lower = (label: string) => label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
