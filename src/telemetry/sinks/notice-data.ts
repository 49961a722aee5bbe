import type { WebhookEvent } from '../../config/sections/callback-settings.ts'
import type { Notice } from '../notices.ts'
import type { SinkEvent } from './sink.ts'

/** The public names of events. */
export const PUBLIC_NAMES: Readonly<Record<SinkEvent['type'], WebhookEvent>> = {
  'call.finished': 'call.finished',
  'budget.soft_exceeded': 'budget.soft_limit',
  'budget.exceeded': 'budget.exceeded',
  'deployment.cooled': 'deployment.cooled',
  'batch.finished': 'batch.finished',
  'key.expiring': 'key.expiring',
}

/** The fields of a notice, spelled as in all answers of the API; absent values are null. */
export function noticeData(notice: Notice): Record<string, string | number | null> {
  const { type: _type, at: _at, ...fields } = notice
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      snakeCase(name),
      value === undefined || value === '' ? null : value,
    ]),
  )
}

export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
