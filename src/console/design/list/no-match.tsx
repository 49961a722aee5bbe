import { useParams } from '../../data/params.ts'
import { chooseScope } from '../../data/scope.ts'
import { Button } from '../button.tsx'
import { Empty } from '../states.tsx'

/** A list that has nothing because it is narrowed. What narrows it is taken away here. */
export function NoMatch({
  title,
  filters,
  isInScope = false,
}: {
  readonly title: string
  /** The parameters of the address that narrow it. */
  readonly filters: readonly string[]
  /** The scope over the menu narrows it too. */
  readonly isInScope?: boolean
}) {
  const params = useParams()
  return (
    <Empty
      title={title}
      actions={
        <>
          {filters.some((name) => params.get(name) !== '') && (
            <Button onClick={() => params.set(Object.fromEntries(filters.map((name) => [name, undefined])))}>
              Clear filters
            </Button>
          )}
          {isInScope && <Button onClick={() => chooseScope({})}>Look everywhere</Button>}
        </>
      }
    >
      {isInScope && 'What is chosen over the menu narrows this list.'}
    </Empty>
  )
}
