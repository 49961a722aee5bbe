import type { Answer, Row } from '../../data/client.ts'
import { State, type Tone } from '../../design/badge.tsx'
import { count } from '../../design/format.ts'
import { Meter } from '../../design/meter.tsx'

export type Batch = Row<'GET /ui/api/batches'>
export type WholeBatch = Answer<'GET /ui/api/batches/{batch_id}'>
export type Item = Row<'GET /ui/api/batches/{batch_id}/items'>

const TONES: Readonly<Record<string, Tone>> = { failed: 'bad', expired: 'warn', cancelling: 'warn', cancelled: 'warn' }

export const isOver = ({ ended_at: ended }: Pick<Batch, 'ended_at'>): boolean => ended !== null

export function BatchState({ batch: { status } }: { readonly batch: Pick<Batch, 'status'> }) {
  return <State tone={TONES[status] ?? 'quiet'}>{status.replaceAll('_', ' ')}</State>
}

/** How many of its requests are done, and how many of them failed. */
export function Progress({ batch, full = false }: { readonly batch: Batch; readonly full?: boolean }) {
  const { total, completed, failed } = batch.progress
  if (total === 0) return <span class="quiet">–</span>
  const done = completed + failed
  const text = `${count(done)} of ${count(total)}${failed > 0 ? `, ${count(failed)} failed` : ''}`
  return <Meter used={done} of={isOver(batch) ? null : total} text={text} full={full} plain />
}
