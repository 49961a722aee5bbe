import { State } from '../../design/badge.tsx'
import type { Model } from './model.ts'

/** Whether calls of a model get through, in a word. */
export function HealthWord({ of: model }: { readonly of: Model }) {
  switch (model.health) {
    case 'unavailable':
      return (
        <State tone="bad" title="All of its deployments are cooling after failures.">
          unavailable
        </State>
      )
    case 'degraded':
      return (
        <State tone="warn" title="Some of its deployments are cooling after failures; the others answer.">
          degraded
        </State>
      )
    default:
      return <State>healthy</State>
  }
}
