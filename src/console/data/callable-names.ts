import { api } from './client.ts'
import { queries } from './query.ts'

interface Found {
  readonly value: string
  readonly label: string
  readonly note?: string | undefined
}

/** Models, route groups or labels of models that can be given to somebody, found by a part of the name. For those who may
 *  change a key, a team or more. */
export const callableNames =
  (kind: 'target' | 'access_group') =>
  async (text: string): Promise<readonly Found[]> => {
    const { data } = await queries.fetchQuery({
      queryKey: ['lookup', 'callable-targets'],
      queryFn: () => api('GET /ui/api/callable-targets'),
      staleTime: 60_000,
    })
    const wanted = text.toLowerCase()
    return data
      .filter((one) => one.callable_kind === kind && one.callable_key.toLowerCase().includes(wanted))
      .slice(0, 50)
      .map(({ callable_key: value, targets }) => ({
        value,
        label: value,
        ...(targets && { note: `${targets.length} models` }),
      }))
  }
