import { useMutation } from '@tanstack/preact-query'
import { type Answer, type ApiError, api, type Input, type RouteName } from './client.ts'
import { refresh } from './query.ts'

/** A change. Afterwards queries whose paths begin with one of `refreshes` are read again. */
export function useChange<Name extends RouteName>(
  name: Name,
  {
    refreshes = [],
    done,
  }: { readonly refreshes?: readonly string[]; readonly done?: (answer: Answer<Name>) => void } = {},
) {
  return useMutation<Answer<Name>, ApiError, Input<Name>>({
    mutationFn: (input) => api(name, input),
    onSuccess: async (answer) => {
      await refresh(...refreshes)
      done?.(answer)
    },
  })
}
