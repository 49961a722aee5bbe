import type { ComponentChildren } from 'preact'
import { State } from '../../design/badge.tsx'
import { count, money } from '../../design/format.ts'
import type { Column } from '../../design/list/columns.tsx'
import { Facts } from '../../design/page.tsx'
import { Table } from '../../design/table.tsx'
import type { Call, Story } from './call.ts'

type Part = NonNullable<Story['price']>['parts'][number]

const UNITS: Readonly<Record<Part['unit'], string>> = {
  input_tokens: 'tokens in',
  cached_input_tokens: 'tokens in, read from a cache',
  cached_audio_input_tokens: 'tokens of audio in, read from a cache',
  cache_creation_input_tokens: 'tokens in, written to a cache',
  cache_creation_1h_input_tokens: 'tokens in, written to a cache for an hour',
  audio_input_tokens: 'tokens of audio in',
  image_input_tokens: 'tokens of images in',
  output_tokens: 'tokens out',
  audio_output_tokens: 'tokens of audio out',
  tool_uses: 'uses of a tool',
  images: 'images',
  audio_seconds: 'seconds of audio',
  characters: 'characters',
  rerank_units: 'rerank units',
}

/** Prices of tokens are read by the million. */
const isToken = ({ unit }: Part) => unit.endsWith('_tokens')
const priceOf = (part: Part) => (isToken(part) ? `${exactly(1e6 * part.price)} per 1M` : exactly(part.price))

const precise = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 6 })
/** Dollars without a digit too few: parts have to add up before one's eyes. */
const exactly = (dollars: number) => `$${precise.format(dollars)}`

const timesOf = ({ times }: Part) =>
  times.map(({ name, by }) => ` × ${precise.format(by)} (${name.replaceAll('_', ' ').replace('/', ' ')})`).join('')

const COLUMNS = (several: boolean): ReadonlyArray<Column<Part>> => [
  {
    id: 'of',
    label: 'Of',
    cell: (part) => (
      <span class="wraps">
        {count(part.count)} {part.tool ? `× ${part.tool}` : UNITS[part.unit]}
        {several && <span class="quiet"> at {part.deployment}</span>}
      </span>
    ),
  },
  {
    id: 'price',
    label: 'Price',
    number: true,
    cell: (part) => (
      <span class="wraps">
        {priceOf(part)}
        {timesOf(part)}
      </span>
    ),
  },
  { id: 'amount', label: 'Amount', number: true, cell: ({ amount }) => exactly(amount) },
]

/** What a call cost, how that comes about, and what was held for it meanwhile. */
export function Price({ story: { call, price, held } }: { readonly story: Story }) {
  const several = new Set(price?.parts.map(({ deployment }) => deployment)).size > 1
  return (
    <>
      {price && price.parts.length > 0 && (
        <Table
          name="price"
          label="The parts of the cost"
          columns={COLUMNS(several)}
          rows={price.parts}
          rowId={({ deployment, unit, tool }) => `${deployment} ${unit} ${tool}`}
        />
      )}
      {price && !price.exact && (
        <p class="notice warn">
          At present prices this is {exactly(price.total)}. It was settled at those of then: {money(call.cost)}.
        </p>
      )}
      <Facts of={costOf(call, held)} />
    </>
  )
}

function costOf(call: Call, held: number | null): ReadonlyArray<readonly [string, ComponentChildren]> {
  const some = (value: number, unit: string) => (value > 0 ? `${count(value)} ${unit}` : undefined)
  return [
    [
      'Cost',
      call.cost === null ? (
        <State tone="warn">no price</State>
      ) : (
        <b title={String(call.cost)}>{call.cost > 0 ? exactly(call.cost) : money(call.cost)}</b>
      ),
    ],
    ['Saved by the cache', call.saved > 0 ? money(call.saved) : undefined],
    [
      'Held, then settled',
      held === null ? undefined : `${money(held)} of each budget while it ran; ${money(call.cost ?? 0)} settled`,
    ],
    [
      'Tokens in',
      `${count(call.input_tokens)}${call.cached_input_tokens ? `, ${count(call.cached_input_tokens)} cached` : ''}`,
    ],
    ['Written to a cache', some(call.cache_creation_input_tokens, 'tokens')],
    [
      'Tokens out',
      `${count(call.output_tokens)}${call.reasoning_tokens ? `, ${count(call.reasoning_tokens)} of reasoning` : ''}`,
    ],
    ['Images', some(call.images, '')],
    ['Audio', some(call.audio_seconds, 'seconds')],
    ['Characters', some(call.characters, '')],
    ['Rerank units', some(call.rerank_units, '')],
    ['Counted by', call.estimated ? 'the gateway, because the provider reported nothing' : undefined],
  ]
}
