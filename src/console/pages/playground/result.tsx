import { useEffect, useState } from 'preact/hooks'
import { State } from '../../design/badge.tsx'
import { ButtonLink } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { count } from '../../design/format.ts'
import { Table } from '../../design/table.tsx'
import type { Result } from './task-run.ts'
import type { Given, Task } from './tasks.ts'

/** What was answered, as what it is: a picture, a voice, a table. */
export function ResultOf({
  task,
  given,
  result,
}: {
  readonly task: Task
  readonly given: Given
  readonly result: Result
}) {
  if (result.kind === 'text') return <Code wrap label="The text" text={result.text} />
  if (result.kind === 'file') return <Sound file={result} />
  const value = result.value as Readonly<Record<string, never>>
  const data = (value.data ?? []) as readonly unknown[]
  if (task.id === 'embeddings') return <Vectors texts={textsOf(given.input)} data={data as readonly Vector[]} />
  if (task.id === 'image' || task.id === 'image-edit') return <Pictures data={data as readonly Picture[]} />
  if (task.id === 'rerank')
    return <Ranking texts={textsOf(given.documents)} rows={(value.results ?? []) as readonly Ranked[]} />
  if (task.id === 'moderation') return <Judgement of={(value.results ?? []) as readonly Judged[]} />
  if (typeof value.text === 'string') return <p class="play-text">{value.text}</p>
  return <Code wrap label="The answer" text={JSON.stringify(value, null, 2)} />
}

const textsOf = (text: string | number | null | undefined) =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

function Sound({ file: { address, type, bytes } }: { readonly file: Extract<Result, { readonly kind: 'file' }> }) {
  const ending = /^audio\/(?:x-)?(\w+)/.exec(type)?.[1]?.replace('mpeg', 'mp3') ?? 'bin'
  return (
    <div class="row">
      {/* biome-ignore lint/a11y/useMediaCaption: what is said was typed above it. */}
      <audio controls src={address} aria-label="What was said" />
      <ButtonLink small icon="download" href={address} download={`speech.${ending}`}>
        Download
      </ButtonLink>
      <span class="quiet small">
        {type}, {count(bytes)} bytes
      </span>
    </div>
  )
}

interface Vector {
  readonly embedding: readonly number[] | string
}

function Vectors({ texts, data }: { readonly texts: readonly string[]; readonly data: readonly Vector[] }) {
  const rows = data.map(({ embedding }, index) => ({ embedding, index, text: texts[index] ?? `Text ${index + 1}` }))
  const first = rows[0]?.embedding
  return (
    <Table
      name="play-vectors"
      label="Vectors"
      rows={rows}
      rowId={({ index }) => String(index)}
      columns={[
        { id: 'text', label: 'Text', cell: ({ text }) => text },
        { id: 'size', label: 'Dimensions', number: true, cell: ({ embedding }) => count(embedding.length) },
        {
          id: 'near',
          label: 'Like the first',
          number: true,
          cell: ({ embedding }) => (first ? likeness(first, embedding) : '–'),
        },
        {
          id: 'begins',
          label: 'Begins',
          priority: 3,
          cell: ({ embedding }) => <span class="mono small">{beginning(embedding)}</span>,
        },
      ]}
    />
  )
}

const beginning = (vector: readonly number[] | string) =>
  typeof vector === 'string'
    ? vector.slice(0, 16)
    : vector
        .slice(0, 3)
        .map((number) => number.toFixed(3))
        .join(' ')

/** The cosine of the angle between two vectors. */
function likeness(one: readonly number[] | string, other: readonly number[] | string): string {
  if (typeof one === 'string' || typeof other === 'string') return '–'
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, x, index) => sum + x * (b[index] ?? 0), 0)
  const length = Math.sqrt(product(one, one) * product(other, other))
  return length === 0 ? '–' : (product(one, other) / length).toFixed(3)
}

interface Picture {
  readonly url?: string
  readonly b64_json?: string
  readonly revised_prompt?: string
}

function Pictures({ data }: { readonly data: readonly Picture[] }) {
  return (
    <>
      {data.map((one, index) => (
        <figure key={index} class="play-result">
          {one.b64_json ? <Drawn base64={one.b64_json} name={`Image ${index + 1}`} /> : null}
          {one.url && (
            <a href={one.url} target="_blank" rel="noreferrer">
              Image {index + 1}, at its provider
            </a>
          )}
          {one.revised_prompt && <figcaption class="quiet small">{one.revised_prompt}</figcaption>}
        </figure>
      ))}
    </>
  )
}

function Drawn({ base64, name }: { readonly base64: string; readonly name: string }) {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))]))
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [base64])
  return address ? <img class="play-image" src={address} alt={name} /> : null
}

interface Ranked {
  readonly index: number
  readonly relevance_score: number
}

function Ranking({ texts, rows }: { readonly texts: readonly string[]; readonly rows: readonly Ranked[] }) {
  return (
    <Table
      name="play-ranking"
      label="Documents, the most relevant first"
      rows={rows}
      rowId={({ index }) => String(index)}
      columns={[
        { id: 'text', label: 'Document', cell: ({ index }) => texts[index] ?? `Document ${index + 1}` },
        { id: 'score', label: 'Score', number: true, cell: ({ relevance_score: score }) => score.toFixed(3) },
      ]}
    />
  )
}

interface Judged {
  readonly flagged: boolean
  readonly categories?: Readonly<Record<string, boolean>>
  readonly category_scores?: Readonly<Record<string, number>>
}

/** What a text was judged to be, the most certain first. */
function Judgement({ of: [judged] }: { readonly of: readonly Judged[] }) {
  const scores = Object.entries(judged?.category_scores ?? {}).toSorted(([, one], [, other]) => other - one)
  return (
    <>
      <p>
        <State tone={judged?.flagged ? 'bad' : 'ok'}>{judged?.flagged ? 'Harmful' : 'Nothing harmful'}</State>
      </p>
      <Table
        name="play-judgement"
        label="Categories, the most certain first"
        rows={scores}
        rowId={([category]) => category}
        columns={[
          { id: 'category', label: 'Category', cell: ([category]) => category },
          {
            id: 'flagged',
            label: 'Found',
            cell: ([category]) => (judged?.categories?.[category] ? 'yes' : <span class="quiet">no</span>),
          },
          { id: 'score', label: 'Score', number: true, cell: ([, score]) => score.toFixed(3) },
        ]}
      />
    </>
  )
}
