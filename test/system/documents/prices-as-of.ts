import { PRICES_AS_OF } from '../../../src/providers/price-table.ts'

/** From when the prices are that a deployment has without saying any. */
export function pricesAsOf(): string {
  const [year, month] = PRICES_AS_OF.split('-').map(Number) as [number, number]
  const name = new Date(Date.UTC(year, month - 1)).toLocaleDateString('en', { month: 'long', timeZone: 'UTC' })
  return `These prices were last compared with the lists of the vendors in ${name} ${year}.`
}
